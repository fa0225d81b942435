package users

import (
	"encoding/json"

	"github.com/portcullis-authz/portcullis/resources"
)

// userRecord is a user as the service that synchronises users sees them.
type userRecord struct {
	ID                      string          `json:"id"`
	Email                   string          `json:"email"`
	ExternalID              string          `json:"external_id"`
	Name                    string          `json:"name"`
	ProfilePicURL           string          `json:"profile_pic_url,omitempty"`
	IsVerified              bool            `json:"is_verified"`
	Metadata                json.RawMessage `json:"metadata,omitempty"`
	Status                  string          `json:"status"`
	AuthenticationType      string          `json:"authentication_type"`
	AuthenticationPartner   string          `json:"authentication_partner,omitempty"`
	AuthenticationPartnerID string          `json:"authentication_partner_id,omitempty"`
	AccountID               string          `json:"account_id,omitempty"`
	CreatedAt               resources.Time  `json:"created_at"`
	UpdatedAt               resources.Time  `json:"updated_at"`
}

// recordOf returns the user's record as responses show it.
func recordOf(u resources.User) userRecord {
	return userRecord{
		ID: u.UUID, Email: u.Email, ExternalID: u.ExternalID, Name: u.Name, ProfilePicURL: u.ProfilePicURL,
		IsVerified: u.IsVerified, Metadata: u.Metadata, Status: u.Status, AuthenticationType: u.AuthenticationType,
		AuthenticationPartner: u.AuthenticationPartner, AuthenticationPartnerID: u.AuthenticationPartnerID,
		AccountID: u.AccountID, CreatedAt: u.CreatedAt, UpdatedAt: u.UpdatedAt,
	}
}

// Shown returns the user as change records show it.
func Shown(u resources.User) any { return recordOf(u) }

// profileBody is the response of user_profile.update and user_profile.get.
type profileBody struct {
	User      resources.UserProfile `json:"user"`
	AccountID string                `json:"account_id"`
}

// listedUser is a user as user.list shows them.
type listedUser struct {
	resources.UserProfile
	AuthenticationType      string `json:"authentication_type"`
	AuthenticationPartner   string `json:"authentication_partner,omitempty"`
	AuthenticationPartnerID string `json:"authentication_partner_id,omitempty"`
}

// listedOf returns the user as user.list shows them.
func listedOf(u resources.User) listedUser {
	return listedUser{
		UserProfile: u.Profile(), AuthenticationType: u.AuthenticationType,
		AuthenticationPartner: u.AuthenticationPartner, AuthenticationPartnerID: u.AuthenticationPartnerID,
	}
}
