package outbox

import "github.com/portcullis-authz/portcullis/resources"

// Invitation returns the mail that invites a user to an account. The caller inserts it in the
// transaction of the invitation.
func Invitation(account resources.Account, user resources.User, ids resources.IDs, now resources.Time) resources.Message {
	return resources.Message{
		ID:          ids.ULID(),
		Kind:        resources.MessageInvitation,
		State:       resources.MessagePending,
		To:          user.Email,
		AccountID:   account.ID,
		AccountName: account.Name,
		UserID:      user.ExternalID,
		NextAt:      now,
		CreatedAt:   now,
	}
}
