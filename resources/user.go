package resources

import "encoding/json"

// AuthenticationUnknown is the authentication type of a user whose way to sign in is not known.
const AuthenticationUnknown = "unknown"

// User is the record of a person (specification, "User"). A user is a member of at most one
// account.
type User struct {
	// ExternalID is the user's public id: `sub` of tokens, `user_id` of paths. It never changes.
	ExternalID string `json:"external_id"`
	// UUID is the user's internal id.
	UUID string `json:"id"`
	// AccountID is the user's account, "" for none.
	AccountID               string          `json:"account_id,omitempty"`
	Email                   string          `json:"email"`
	Name                    string          `json:"name"`
	ProfilePicURL           string          `json:"profile_pic_url,omitempty"`
	IsVerified              bool            `json:"is_verified"`
	Metadata                json.RawMessage `json:"metadata,omitempty"`
	Status                  string          `json:"status"`
	AuthenticationType      string          `json:"authentication_type"`
	AuthenticationPartner   string          `json:"authentication_partner,omitempty"`
	AuthenticationPartnerID string          `json:"authentication_partner_id,omitempty"`
	// InvitedAt is when the last invitation was sent. An invitation expires.
	InvitedAt   Time `json:"invited_at,omitzero"`
	MemberSince Time `json:"member_since,omitzero"`
	CreatedAt   Time `json:"created_at"`
	UpdatedAt   Time `json:"updated_at"`
}

// FoldASCII returns the form in which e-mail addresses are compared (API contract, 2) and users are searched: ASCII
// letters in lower case, and no others.
func FoldASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
