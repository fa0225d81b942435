package gate

import "context"

// AccountKey is the key of a context under which the account stands (a string) whose turns its callers
// take, whichever account they ask about. A user's is their own: else they would get turns by asking about
// accounts that do not exist.
type AccountKey struct{}

// Account returns the account of the context, or where it has none, the other one.
func Account(ctx context.Context, other string) string {
	if account, _ := ctx.Value(AccountKey{}).(string); account != "" {
		return account
	}
	return other
}
