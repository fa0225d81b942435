package console

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/gateway"
)

// policy is the Content-Security-Policy of every response.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types console"

// originAlone is the Referrer-Policy of a page with a code in its address. With no-referrer a browser sends
// `Origin: null` with the page's form, and the console rejects that.
const originAlone = "strict-origin"

const (
	// maxForm limits a posted form, in bytes.
	maxForm = 64 << 10
	// hsts makes browsers use TLS for a year.
	hsts = "max-age=31536000; includeSubDomains"
	// answerWithin is the deadline of a response, callsWithin that of the API calls for it. The rest is for the page about
	// a call that failed.
	answerWithin = 30 * time.Second
	callsWithin  = answerWithin - 2*time.Second
)

// ServeHTTP implements http.Handler.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.head(w, r)
	_ = http.NewResponseController(w).SetWriteDeadline(c.cfg.Now().Add(answerWithin)) // a test's recorder does not support it
	most := int64(maxForm)
	isUpload := r.URL.Path == comparePath && strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data")
	if isUpload {
		most = maxUpload
	}
	r.Body = http.MaxBytesReader(w, r.Body, most)
	ctx, cancel := context.WithTimeout(r.Context(), callsWithin)
	defer cancel()
	r = r.WithContext(ctx)
	switch {
	case r.Host != c.cfg.URL.Host:
		c.refuse(w, r, http.StatusMisdirectedRequest, "This is the console of "+c.cfg.URL.Host+".", "Open it by that name.")
	case !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodPost}, r.Method):
		w.Header().Set("Allow", "GET, HEAD, POST")
		c.refuse(w, r, http.StatusMethodNotAllowed, "The console supports GET and POST only.", "")
	case r.Method == http.MethodPost && !c.ownForm(r):
		c.refuse(w, r, http.StatusForbidden, "This form was not sent by a page of the console.", "Open the page here, and send the form again.")
	case r.ParseForm() != nil:
		c.refuse(w, r, http.StatusBadRequest, "This form is malformed or too large.", "Open the page here, and send the form again.")
	default:
		c.mux.ServeHTTP(w, r)
		if isUpload { // a browser that can't send the whole form shows a broken connection instead of the response
			_, _ = io.Copy(io.Discard, r.Body)
		}
	}
}

// ownForm reports whether a page of the console sent a form. It rejects a form with neither Sec-Fetch-Site nor Origin.
func (c *Console) ownForm(r *http.Request) bool {
	if r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "" {
		return false
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != c.cfg.URL.Scheme+"://"+c.cfg.URL.Host {
		return false
	}
	return c.protect.Check(r) == nil
}

// head sets the headers of every response.
func (c *Console) head(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("X-Request-ID")
	if !gateway.ValidRequestID(id) {
		id = c.cfg.IDs.ULID()
		r.Header.Set("X-Request-ID", id)
	}
	h := w.Header()
	h.Set("X-Request-ID", id)
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if c.secure() {
		h.Set("Strict-Transport-Security", hsts)
	}
}

// secure reports whether browsers use TLS to the console.
func (c *Console) secure() bool { return c.cfg.URL.Scheme == "https" }

// refuse shows a refusal without the menu, for a request without a session.
func (c *Console) refuse(w http.ResponseWriter, r *http.Request, status int, message, remedy string) {
	c.templates.render(w, status, "refusal", view{Title: http.StatusText(status), Theme: themeOf(r), Data: refusal{Status: status, Message: message, Remedy: remedy}})
}

// refusal is the data of a page that shows only a message.
type refusal struct {
	Status          int
	Message, Remedy string
	Details         []string
	RequestID       string
}

// ownPath validates a return path: it returns "/" for a text that is not a path of the console.
func ownPath(text string) string {
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") || strings.HasPrefix(text, "/login") || len(text) > 2048 ||
		strings.ContainsAny(text, "\\\r\n\t") || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "/"
	}
	return text
}
