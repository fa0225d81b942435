package gate

import "context"

// AccountKey is the key of a context's account (a string). Its callers take their turns as this account, for questions
// about any account. Otherwise users would get turns by asking about accounts that do not exist.
type AccountKey struct{}

// Account returns the account of the context, or the other one for a context without.
func Account(ctx context.Context, other string) string {
	if account, _ := ctx.Value(AccountKey{}).(string); account != "" {
		return account
	}
	return other
}
