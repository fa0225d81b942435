package resources

import "context"

// ConsistencyStrict is the only value of X-Consistency (API contract, 6).
const ConsistencyStrict = "strict"

// strictKey is the key of WithStrict in a context.
type strictKey struct{}

// WithStrict returns a context for decisions on facts as of the request: they do not use the
// freshness lease.
func WithStrict(ctx context.Context) context.Context {
	return context.WithValue(ctx, strictKey{}, true)
}

// IsStrict says whether the context is one of WithStrict.
func IsStrict(ctx context.Context) bool {
	strict, _ := ctx.Value(strictKey{}).(bool)
	return strict
}
