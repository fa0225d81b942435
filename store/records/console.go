package records

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// ConsoleSession is a session of the console (resources/sessions).
type ConsoleSession struct {
	// ID is a hash of the secret that the browser has.
	ID        string `json:"id"`
	UserID    string `json:"user_id"`
	AccountID string `json:"account_id"`
	// Token is the user's access token, sealed.
	Token string `json:"token"`
	// SeenAt is the last use, at most a minute behind. EndsAt is the last moment of the session.
	SeenAt resources.Time `json:"seen_at"`
	EndsAt resources.Time `json:"ends_at"`
}

// ConsoleCode is a code of a link to the console, good for one sign-in.
type ConsoleCode struct {
	// ID is a hash of the code.
	ID     string         `json:"id"`
	UserID string         `json:"user_id"`
	EndsAt resources.Time `json:"ends_at"`
}

func consoleSessions() store.Collection[ConsoleSession] {
	return store.NewCollection(store.Schema{
		Name:    "console_sessions",
		Columns: append(text("user_id"), store.Column{Name: "ends", Kind: store.KindInt}),
		Indexes: []store.Index{{Name: ByUser, Columns: []string{"user_id"}}, {Name: ByExpiry, Columns: []string{"ends"}}},
	}, func(s *ConsoleSession) string { return s.ID }, func(s *ConsoleSession) []store.Value {
		return []store.Value{store.String(s.UserID), store.Int(int64(s.EndsAt))}
	})
}

func consoleCodes() store.Collection[ConsoleCode] {
	return store.NewCollection(store.Schema{
		Name:    "console_codes",
		Columns: []store.Column{{Name: "ends", Kind: store.KindInt}},
		Indexes: []store.Index{{Name: ByExpiry, Columns: []string{"ends"}}},
	}, func(c *ConsoleCode) string { return c.ID }, func(c *ConsoleCode) []store.Value {
		return []store.Value{store.Int(int64(c.EndsAt))}
	})
}

// EndConsoleSessions ends all sessions of a user, in the transaction that suspends or removes the user.
func (c Collections) EndConsoleSessions(ctx context.Context, tx store.Tx, user string) error {
	return c.ConsoleSessions.DeleteAll(ctx, tx, store.Query{Index: ByUser, Equal: []store.Value{store.String(user)}})
}
