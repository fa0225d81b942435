package contract

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Exchange is a request with its answer.
type Exchange struct {
	Method, Target string // path and query, as they were sent
	Header         http.Header
	Body           []byte // with header nil it is not known, nor are the headers
	Answer         Answer
	// Raw says that the request was written byte by byte: it may be no HTTP.
	Raw bool
}

// Answer is the answer of an exchange, read to its end.
type Answer struct {
	Status int
	Header http.Header
	Raw    []byte
}

// Against looks at one exchange at a listener. It does not hold a refused request
// against the document: tests send wrong ones on purpose.
func (c *Contract) Against(kind string, x Exchange) []string {
	path, query, _ := strings.Cut(x.Target, "?")
	o, values, allow := c.find(x.Method, path, kind == PrivateListener)
	switch {
	case kind == InnerListener, kind == StandInListener, o == nil && kind != EdgeListener:
		return nil
	case o == nil:
		return c.againstNoRoute(x, allow)
	}
	if x.misframed() {
		return complaints(c.accessErr, x.Answer.Raw)
	}
	a, ok := o.answers[x.Answer.Status]
	if !ok {
		return []string{"it does not know this status: " + string(x.Answer.Raw)}
	}
	names := a.check(x)
	if x.Answer.Status < 300 && x.Header != nil {
		names = append(names, o.againstRequest(values, query, x)...)
	}
	return names
}

// misframed says whether the request was refused before its route was looked for.
func (x Exchange) misframed() bool {
	switch x.Answer.Status {
	case http.StatusBadRequest:
		return x.Raw && strings.Contains(string(x.Answer.Raw), "not well-formed HTTP/1.1")
	case http.StatusRequestTimeout, http.StatusRequestHeaderFieldsTooLarge:
		return true
	case http.StatusTooManyRequests, http.StatusServiceUnavailable: // of the connection
		return strings.Contains(string(x.Answer.Raw), "There are too many connections")
	default:
		return false
	}
}

// find looks a path up like the gateway; without the method it gives those that there are.
func (c *Contract) find(method, path string, private bool) (o *operation, values map[string]string, allow []string) {
	segments := strings.Split(path, "/")
	for _, o := range c.Operations {
		values, fits := o.fits(segments)
		if !fits || o.private != private {
			continue
		}
		if o.method == method || o.any && isAnyMethod(method) {
			return o, values, nil
		}
		allow = append(allow, o.method)
	}
	slices.Sort(allow)
	return nil, nil, slices.Compact(allow)
}

// isAnyMethod says whether the gateway takes a route for any method for this one.
func isAnyMethod(method string) bool {
	return method != "" && strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") == "" && method != http.MethodConnect && method != http.MethodTrace
}

func (o *operation) fits(segments []string) (map[string]string, bool) {
	values := map[string]string{}
	for i, want := range o.segments {
		name, isParam := strings.CutPrefix(want, "{")
		name = strings.TrimSuffix(name, "}")
		switch {
		case i >= len(segments):
			return nil, false
		case isParam && o.takesRest(name):
			values[name] = strings.Join(segments[i:], "/")
			return values, true
		case isParam && segments[i] != "":
			values[name] = segments[i]
		case want != segments[i]:
			return nil, false
		}
	}
	return values, len(segments) == len(o.segments)
}

func (o *operation) takesRest(name string) bool {
	return slices.ContainsFunc(o.params, func(p parameter) bool { return p.text == "path" && p.name == name && p.rest })
}

// againstNoRoute: what the document does not have is not there, or has other methods.
func (c *Contract) againstNoRoute(x Exchange, allow []string) []string {
	status := x.Answer.Status
	switch {
	case status == http.StatusNotFound && len(allow) == 0:
	case status == http.StatusMethodNotAllowed && x.Answer.Header.Get("Allow") == strings.Join(allow, ", "):
	case x.misframed():
	default:
		return []string{fmt.Sprintf("it has no such route (methods of the path: %s), Allow %q: %s", allow, x.Answer.Header.Get("Allow"), x.Answer.Raw)}
	}
	if x.Method == http.MethodHead {
		return nil
	}
	return complaints(c.accessErr, x.Answer.Raw)
}

// unsaid are response headers of HTTP itself, which the document leaves out.
var unsaid = []string{"Content-Length", "Content-Type", "Connection", "Date", "Transfer-Encoding"}

func (a answer) check(x Exchange) []string {
	var names []string
	for name, values := range x.Answer.Header {
		h, ok := a.headers[name]
		switch {
		case slices.Contains(unsaid, name):
		case !ok:
			names = append(names, "it has no response header "+name)
		case len(values) > 1:
			names = append(names, name+" is there twice")
		default:
			names = append(names, prefixed(name, complaintsOf(h.schema, values[0]))...)
		}
	}
	for name, h := range a.headers {
		if h.required && x.Answer.Header.Get(name) == "" {
			names = append(names, "the header "+name+" is missing")
		}
	}
	if x.Method == http.MethodHead {
		return names
	}
	kind, _, err := mime.ParseMediaType(x.Answer.Header.Get("Content-Type"))
	schema, ok := a.content[kind]
	switch {
	case err != nil || !ok:
		names = append(names, fmt.Sprintf("it has no answer of the kind %q", x.Answer.Header.Get("Content-Type")))
	case kind == "application/json":
		names = append(names, complaints(schema, x.Answer.Raw)...)
	}
	return names
}

// againstRequest holds a request that was granted to the document.
func (o *operation) againstRequest(values map[string]string, rawQuery string, x Exchange) []string {
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		return []string{"the query: " + err.Error()}
	}
	var names []string
	said := map[string]bool{}
	for _, p := range o.params {
		var sent []string
		switch p.text {
		case "path":
			sent = []string{values[p.name]}
		case "query":
			said[p.name] = true
			sent = query[p.name]
		case "header":
			sent = x.Header.Values(p.name)
		}
		if len(sent) == 0 && p.required {
			names = append(names, p.name+" is missing")
		}
		for _, text := range sent {
			names = append(names, prefixed(p.text+" "+p.name, p.complaints(text))...)
		}
		if len(sent) > 1 {
			names = append(names, p.name+" was sent twice")
		}
	}
	if o.any { // query and body are those of another call
		return names
	}
	for name := range query {
		if !said[name] {
			names = append(names, "it has no query parameter "+name)
		}
	}
	switch {
	case len(x.Body) == 0 && o.bodyRequired:
		names = append(names, "a body is needed")
	case len(x.Body) == 0:
	case o.body == nil && o.method != http.MethodGet && string(x.Body) == "{}": // as good as none
	case o.body == nil:
		names = append(names, "it takes no body")
	default:
		names = append(names, prefixed("the request's body", complaints(o.body, x.Body))...)
	}
	return names
}

func (p parameter) complaints(text string) []string {
	if p.typed == "integer" {
		return complaintsOf(p.schema, json.Number(text))
	}
	return complaintsOf(p.schema, text)
}

// complaints are the faults of JSON by a schema.
func complaints(schema *jsonschema.Schema, text []byte) []string {
	v, err := Decoded(text)
	if err != nil {
		return []string{fmt.Sprintf("not JSON: %v: %.200s", err, text)}
	}
	return complaintsOf(schema, v)
}

func complaintsOf(schema *jsonschema.Schema, v any) []string {
	if err := schema.Validate(v); err != nil {
		text, _ := json.Marshal(v)
		return []string{fmt.Sprintf("%v\nin %.2000s", err, text)}
	}
	return nil
}

func prefixed(title string, texts []string) []string {
	for i, text := range texts {
		texts[i] = title + ": " + text
	}
	return texts
}

func canonical(name string) string { return http.CanonicalHeaderKey(name) }

// Kinds of listener to which tests speak.
const (
	EdgeListener    = "edge"
	PrivateListener = "private"
	// A gateway with routes of its own beside those of the document.
	OwnRoutesListener = "own routes"
	// A gateway with a stand-in behind it, whose answers it passes on.
	StandInListener = "stand-in"
	// A process behind gateways, which answers gateways alone.
	InnerListener = "inner"
)
