package config

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/users"
)

// Mail says how invitations are sent.
type Mail struct {
	// SMTPURL is "" for the log and the data folder.
	SMTPURL string
	// InvitationTTL is how long an invitation is valid.
	InvitationTTL time.Duration
}

func (m *Mail) flags(f *pflag.FlagSet) {
	f.StringVar(&m.SMTPURL, "smtp-url", "", "the `URL` of the mail server: smtp://user:password@host:587 (STARTTLS), smtps://… (TLS) or "+
		"smtp://host:25?tls=none (in the clear), each with ?from=address and ?helo=name (default: mail goes to the log and to mail/ in the data folder)")
	DurationVar(f, &m.InvitationTTL, "invitation-ttl", users.DefaultInvitationTTL, "how long an invitation is valid")
}

// Validate returns what is wrong with the time of an invitation.
func (m Mail) Validate() []resources.Problem {
	if m.InvitationTTL < time.Minute {
		return []resources.Problem{problem("--invitation-ttl", "must be a minute at least, not %s: nobody could sign in before it is over", m.InvitationTTL)}
	}
	return nil
}
