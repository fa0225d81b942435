package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
)

// callerKey is the key of the caller in a request's context.
type callerKey struct{}

// CallerOf returns the caller of a request let in by a Verifier; false for any other request.
func CallerOf(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(Caller)
	return c, ok
}

// Behind returns a handler that hands to next only what the gateway let in, with its Caller in the
// request's context. It reads the body, of at most so many bytes, before it decides. It answers 401,
// 413 for a larger body, and 503 while the keys can't be had.
func (v *Verifier) Behind(maxBody int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		var large *http.MaxBytesError
		switch {
		case errors.As(err, &large):
			refuse(w, http.StatusRequestEntityTooLarge, "PAYLOAD_TOO_LARGE", "The body is too large.")
			return
		case err != nil:
			refuse(w, http.StatusBadRequest, "BAD_REQUEST", "The body breaks off.")
			return
		}
		caller, err := v.Verify(r.Context(), r, body)
		switch {
		case errors.Is(err, ErrKeys):
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusServiceUnavailable, "UNAVAILABLE", "The caller can't be checked now; try again.")
		case err != nil:
			refuse(w, http.StatusUnauthorized, "UNAUTHORIZED", "The request did not come through the gateway.")
		default:
			r = r.WithContext(context.WithValue(r.Context(), callerKey{}, caller))
			r.Body = io.NopCloser(bytes.NewReader(body))
			next.ServeHTTP(w, r)
		}
	})
}
