package doors_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
)

// audience is the one of a service behind Envoy, from Envoy's configuration.
const audience = "https://corpus.example"

// forged are headers by which a client would be somebody else to a service.
var forged = map[string]string{
	"x-user-id": "", "x-account-id": "", "x-action": "", // true ones are claims, and wrong ones refused
	"x-principal-kind": "service", "x-portcullis-assertion": "forged", "x_principal_kind": "service",
}

// TestDoorsKeepTheirDefences: those that the corpus has no questions for.
func TestDoorsKeepTheirDefences(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(seed, seed)))
	for _, fault := range w.faults(t) {
		t.Error(fault)
	}
}

// faults are what the doors do that no door may do.
func (w *doorsWorld) faults(t *testing.T) []string {
	t.Helper()
	return slices.Concat(w.trusted(t), w.vouched(t), w.pages(t))
}

// trusted: each door of calls gives the service, or has the proxy remove, every name that it trusts.
func (w *doorsWorld) trusted(t *testing.T) (faults []string) {
	t.Helper()
	nobody := w.callers[nobodyAt] // whose identity headers are empty
	_, header, _ := w.exchange(t, nobody, "GET", "", "/forward-auth", "", "X-Original-Method", "GET", "X-Original-URI", "/.well-known/authzen-configuration")
	for _, name := range []string{"X-User-Id", "X-Account-Id", "X-Action", "X-Principal-Kind", "X-Request-Id"} {
		if len(header[name]) != 1 {
			faults = append(faults, fmt.Sprintf("forward-auth answers with %s %q", name, header[name]))
		}
	}
	admin := w.admin()
	if status, _, _ := w.exchange(t, admin, "GET", "", "/forward-auth", "", "X-Original-Method", "GET", "X-Original-URI", "/api/v1/accounts/"+accountOf(admin.user)+"/roles", "X-User-ID", absentUser); status != 400 {
		faults = append(faults, fmt.Sprintf("forward-auth answers a claim of another user with %d", status))
	}
	for _, project := range []string{absentProject, w.names[w.accounts[2]][0]} {
		noun := "/api/v1/accounts/" + accountOf(admin.user) + "/projects/" + project
		if status, _, raw := w.exchange(t, admin, "GET", "", "/forward-auth", "", "X-Original-Method", "PATCH", "X-Original-URI", noun); status != 403 {
			faults = append(faults, fmt.Sprintf("forward-auth answers a change of %s, which is not the account's, with %d %s", project, status, raw))
		}
	}
	call := &auth.AttributeContext_HttpRequest{Method: "GET", Path: "/accounts/" + accountOf(admin.user) + "/roles", Headers: map[string]string{"authorization": "Bearer " + admin.token}}
	for name, value := range forged {
		if value != "" {
			call.Headers[name] = value
		}
	}
	got := w.ask(t, call, map[string]string{"action": "account:role:read"})
	replaced := map[string]string{}
	for _, h := range got.GetOkResponse().GetHeaders() {
		replaced[h.GetHeader().GetKey()] = h.GetHeader().GetValue()
	}
	for name := range forged {
		if replaced[name] == "" && !slices.Contains(got.GetOkResponse().GetHeadersToRemove(), name) || replaced[name] == forged[name] && replaced[name] != "" {
			faults = append(faults, fmt.Sprintf("ext_authz leaves %s as the client sent it: %v", name, got))
		}
	}
	for _, name := range []string{"authorization", "x-api-key"} {
		if !slices.Contains(got.GetOkResponse().GetHeadersToRemove(), name) {
			faults = append(faults, "ext_authz leaves the credential in "+name)
		}
	}
	return faults
}

// vouched: an assertion is for the service that Envoy's configuration names, and there is none for another.
func (w *doorsWorld) vouched(t *testing.T) (faults []string) {
	t.Helper()
	admin := w.admin()
	call := &auth.AttributeContext_HttpRequest{Method: "GET", Path: "/accounts/" + accountOf(admin.user) + "/roles", Headers: map[string]string{"authorization": "Bearer " + admin.token}}
	for named, want := range map[string]string{audience: audience, "": "", "two words": "", "-": ""} {
		extensions := map[string]string{"action": "account:role:read", "audience": named}
		for _, h := range w.ask(t, call, extensions).GetOkResponse().GetHeaders() {
			if h.GetHeader().GetKey() != "x-portcullis-assertion" {
				continue
			}
			if got := audienceOf(h.GetHeader().GetValue()); got != want || want == "" {
				faults = append(faults, fmt.Sprintf("the assertion for %q is for %q", named, got))
			}
			want = "" // seen
		}
		if want != "" {
			faults = append(faults, "there is no assertion for "+want)
		}
		got, err := w.anybody.Check(t.Context(), &auth.CheckRequest{Attributes: &auth.AttributeContext{
			ContextExtensions: extensions, Request: &auth.AttributeContext_Request{Http: call},
		}})
		if err != nil || got.GetDeniedResponse() == nil {
			faults = append(faults, fmt.Sprintf("anybody may name the audience %q: %v, %v", named, got, err))
		}
	}
	return faults
}

// audienceOf reads the audience of a token without a look at its signature.
func audienceOf(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	var claims struct {
		Aud any `json:"aud"`
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(raw, &claims) != nil {
		return ""
	}
	if list, ok := claims.Aud.([]any); ok && len(list) == 1 {
		claims.Aud = list[0]
	}
	text, _ := claims.Aud.(string)
	return text
}

// pages: a page's token is good for the search that it came from, and for its caller.
func (w *doorsWorld) pages(t *testing.T) (faults []string) {
	t.Helper()
	service, admin := w.callers[0], w.admin()
	search := func(c caller, account, token string) (status int, next string) {
		body := map[string]any{
			"subject": map[string]any{"type": "user"}, "action": map[string]any{"name": "project:instance:read"},
			"resource": map[string]any{"type": "account", "id": account}, "page": map[string]any{"limit": 1, "token": token},
		}
		if token == "" {
			body["page"] = map[string]any{"limit": 1}
		}
		var answer struct {
			Page struct {
				NextToken string `json:"next_token"`
			}
		}
		return w.evaluate(t, c, "/access/v1/search/subject", body, &answer).status, answer.Page.NextToken
	}
	self := accountOf(admin.user)
	status, next := search(service, self, "")
	if status != 0 && status != 200 || next == "" {
		return []string{fmt.Sprintf("a search for all who may read instances in %s has one page: %d", self, status)}
	}
	if _, again := search(service, self, next); again == next {
		faults = append(faults, "a search does not go on")
	}
	for title, as := range map[string]struct {
		caller  caller
		account string
	}{"of another caller": {admin, self}, "of another account": {service, w.accounts[2]}} {
		if status, _ := search(as.caller, as.account, next); status != 400 {
			faults = append(faults, fmt.Sprintf("the token of a page %s is answered with %d", title, status))
		}
	}
	return faults
}

// admin is the first one.
func (w *doorsWorld) admin() caller {
	return w.callers[slices.IndexFunc(w.callers, func(c caller) bool { return c.name == "an admin" })]
}
