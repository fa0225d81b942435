package gateway_test

import (
	"context"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// TestFileIsSentAsItIs guarantees a file's bytes, its kind and its security headers: a page on this
// address could do with the API what its reader may.
func TestFileIsSentAsItIs(t *testing.T) {
	const page = "<!DOCTYPE html>\n<p>\"&amp;\"</p>\n"
	e := start(t, func(c *gateway.Config) {
		c.Handlers["access"]["public"] = func(context.Context, *wire.Request) (wire.Response, error) {
			return wire.Response{Status: 200, File: &wire.File{ContentType: "text/html; charset=utf-8", Content: []byte(page)}}, nil
		}
	})
	r := e.send(t, request("POST", "/public", ""))
	if r.Status != 200 || r.Body != page {
		t.Errorf("%d %q", r.Status, r.Body)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
		"Content-Security-Policy": "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestRefusalOfAFileIsJSON: the kind of the file does not stay behind.
func TestRefusalOfAFileIsJSON(t *testing.T) {
	r := start(t).send(t, request("POST", "/public", "{", "Content-Type: text/html"))
	if r.Status != 415 || r.Header.Get("Content-Type") != "application/json" || !strings.HasPrefix(r.Body, `{"error"`) {
		t.Errorf("%d %v %s", r.Status, r.Header, r.Body)
	}
}
