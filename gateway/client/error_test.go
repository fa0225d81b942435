package client_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/client"
)

// TestRetryAfterOfADay guarantees that the error has the whole wait. With a rate of one request an hour and a burst of 24
// the gateway tells a client with an empty bucket that a batch of 24 has to wait for a day.
func TestRetryAfterOfADay(t *testing.T) {
	for sent, want := range map[string]time.Duration{
		"": 0, "1": time.Second, "65535": 65535 * time.Second, "65536": 65536 * time.Second, "86400": 24 * time.Hour, "-1": 0, "soon": 0,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", sent)
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		defer server.Close()
		c, err := client.New(client.Options{URL: server.URL, Token: client.StaticToken("x")})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Check(t.Context(), question())
		var refused *client.Error
		if !errors.As(err, &refused) || refused.RetryAfter != want {
			t.Errorf("Retry-After: %s is %+v", sent, err)
		}
	}
}
