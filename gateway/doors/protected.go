package doors

import "strings"

// Protected is a door whose calls need a token for the very resource at their path (RFC 8707). It takes no API key, and
// its row is not public.
type Protected interface {
	Door
	// ResourceOf returns the resource at a raw path. Without a URL there is nothing at this path: 404.
	ResourceOf(rawPath string) Resource
}

// Resource is a protected resource.
type Resource struct {
	// URL is the audience of its tokens.
	URL string
	// Scopes are what a client without a token should ask for.
	Scopes []string
	// AgentsOf is the account whose agents may come without a user, "" for none.
	AgentsOf string
}

// wellKnown is where the documents about protected resources are (RFC 9728, 3).
const wellKnown = "/.well-known/oauth-protected-resource"

// Metadata returns the URL of the document about the resource.
func (r Resource) Metadata() string {
	start := strings.Index(r.URL, "://") + len("://")
	host, path, _ := strings.Cut(r.URL[start:], "/")
	if path != "" {
		path = "/" + path
	}
	return r.URL[:start] + host + wellKnown + path
}

// Challenge returns the WWW-Authenticate of a refusal (RFC 6750, 3; RFC 9728, 5.1). code is "" for a call without a
// credential.
func (r Resource) Challenge(code string, scopes []string) string {
	var b strings.Builder
	b.WriteString("Bearer ")
	if code != "" {
		b.WriteString("error=" + quote(code) + ", ")
	}
	b.WriteString("resource_metadata=" + quote(r.Metadata()))
	if len(scopes) > 0 {
		b.WriteString(", scope=" + quote(strings.Join(scopes, " ")))
	}
	return b.String()
}

// quote returns a quoted string (RFC 9110, 5.6.4).
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
