package resources

// UserProfile is a user as responses show them (specification, "User profile").
type UserProfile struct {
	// ID is the user's external id.
	ID            string `json:"id"`
	Email         string `json:"email"`
	Name          string `json:"name"`
	ProfilePicURL string `json:"profile_pic_url,omitempty"`
	Status        string `json:"status"`
	IsVerified    bool   `json:"is_verified"`
	CreatedAt     Time   `json:"created_at"`
	UpdatedAt     Time   `json:"updated_at"`
}

// Profile returns the user's profile.
func (u User) Profile() UserProfile {
	return UserProfile{
		ID: u.ExternalID, Email: u.Email, Name: u.Name, ProfilePicURL: u.ProfilePicURL, Status: u.Status,
		IsVerified: u.IsVerified, CreatedAt: u.CreatedAt, UpdatedAt: u.UpdatedAt,
	}
}
