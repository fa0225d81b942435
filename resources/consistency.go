package resources

import "context"

// ConsistencyStrict is the one value of X-Consistency (API contract, 6).
const ConsistencyStrict = "strict"

type strictKey struct{}

// WithStrict asks, for all that is done under the context, for facts whose freshness was
// read after the request came: no lease is used.
func WithStrict(ctx context.Context) context.Context {
	return context.WithValue(ctx, strictKey{}, true)
}

// IsStrict says whether WithStrict was asked for.
func IsStrict(ctx context.Context) bool {
	strict, _ := ctx.Value(strictKey{}).(bool)
	return strict
}
