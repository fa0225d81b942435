package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What listens at an address that tests speak to.
const (
	edgeListener    = "edge"
	privateListener = "private"
	// A gateway with routes of its own beside those of the document.
	ownRoutesListener = "own routes"
	// A gateway with a stand-in behind it, whose answers it passes on.
	standInListener = "stand-in"
	// What is no gateway: it answers gateways alone.
	innerListener = "inner"
)

// listeners are what listens where, and what the answers of some of it had against the
// document that no test was there to be told.
var listeners struct {
	sync.Mutex
	kinds  map[string]string
	untold []string
}

// listening notes what a process that has started listens on.
func (g *gatewayProcess) listening(args ...string) {
	listeners.Lock()
	defer listeners.Unlock()
	if listeners.kinds == nil {
		listeners.kinds = map[string]string{}
	}
	kind := edgeListener
	switch {
	case g.UsersURL == "":
		kind = innerListener
	case hasStandIn(args):
		kind = standInListener
	case slices.Contains(args, "--policy-dir"):
		kind = ownRoutesListener
	}
	listeners.kinds[g.URL], listeners.kinds[g.UsersURL], listeners.kinds[g.HealthURL] = kind, kind, privateListener
}

// hasStandIn says whether an upstream is something else than a process under test.
func hasStandIn(args []string) bool {
	for i, arg := range args[:max(0, len(args)-1)] {
		if _, url, _ := strings.Cut(args[i+1], "="); arg == "--upstream" && listeners.kinds[url] != innerListener {
			return true
		}
	}
	return false
}

// exchange is a request with its answer.
type exchange struct {
	method, url string // the url as it was sent
	header      http.Header
	body        []byte // with header nil it is not known, nor are the headers
	answer      reply
	// raw says that the request was written byte by byte: it may be no HTTP.
	raw bool
}

// rawExchange is an exchange byte by byte, as far as its request can be read.
func rawExchange(base, raw string, a rawAnswer) exchange {
	line, _, _ := strings.Cut(raw, "\r\n")
	method, target, _ := strings.Cut(line, " ")
	target, _, _ = strings.Cut(target, " HTTP/")
	x := exchange{method: method, url: base + target, answer: reply{Status: a.Status, Header: a.Header, Raw: []byte(a.Body)}, raw: true}
	if !strings.HasPrefix(target, "/") {
		x.url = base + "/" + target // a form of target that no route has
	}
	req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
	if err != nil {
		return x
	}
	if x.body, err = io.ReadAll(req.Body); err == nil {
		x.header = req.Header
	}
	return x
}

// against tells all that the document has against an exchange with a process under test.
func (x exchange) against() []string {
	c, err := theContract()
	if err != nil {
		return []string{"the document can't be read: " + err.Error()}
	}
	rest, _ := strings.CutPrefix(x.url, "http://")
	host, target, _ := strings.Cut(rest, "/")
	listeners.Lock()
	kind, known := listeners.kinds["http://"+host]
	listeners.Unlock()
	if !known {
		return []string{"nobody said what listens at " + host + ": see listening"}
	}
	found := c.against(kind, "/"+target, x)
	for i, text := range found {
		found[i] = fmt.Sprintf("%s %s, answered %d: the document: %s", x.method, x.url, x.answer.Status, text)
	}
	return found
}

// against looks at one exchange at a listener. What the document says of a refused
// request is not asked: tests send wrong ones on purpose.
func (c *contract) against(kind, target string, x exchange) []string {
	path, query, _ := strings.Cut(target, "?")
	o, values, allow := c.find(x.method, path, kind == privateListener)
	switch {
	case kind == innerListener, kind == standInListener, o == nil && kind != edgeListener:
		return nil
	case o == nil:
		return c.againstNoRoute(x, allow)
	}
	if x.misframed() {
		return complaints(c.accessErr, x.answer.Raw)
	}
	a, known := o.answers[x.answer.Status]
	if !known {
		return []string{"it does not know this status: " + string(x.answer.Raw)}
	}
	found := a.against(x)
	if x.answer.Status < 300 && x.header != nil {
		found = append(found, o.againstRequest(values, query, x)...)
	}
	return found
}

// misframed says whether the request was refused before its route was looked for.
func (x exchange) misframed() bool {
	switch x.answer.Status {
	case http.StatusBadRequest:
		return x.raw && strings.Contains(string(x.answer.Raw), "not well-formed HTTP/1.1")
	case http.StatusRequestTimeout, http.StatusRequestHeaderFieldsTooLarge:
		return true
	case http.StatusTooManyRequests, http.StatusServiceUnavailable: // of the connection
		return strings.Contains(string(x.answer.Raw), "There are too many connections")
	default:
		return false
	}
}

// find looks a path up like the gateway; without the method it gives those that there are.
func (c *contract) find(method, path string, private bool) (o *operation, values map[string]string, allow []string) {
	segments := strings.Split(path, "/")
	for _, o := range c.operations {
		values, fits := o.fits(segments)
		if !fits || o.private != private {
			continue
		}
		if o.method == method {
			return o, values, nil
		}
		allow = append(allow, o.method)
	}
	slices.Sort(allow)
	return nil, nil, slices.Compact(allow)
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
	return slices.ContainsFunc(o.params, func(p parameter) bool { return p.in == "path" && p.name == name && p.rest })
}

// againstNoRoute: what the document does not have is not there, or has other methods.
func (c *contract) againstNoRoute(x exchange, allow []string) []string {
	status := x.answer.Status
	switch {
	case status == http.StatusNotFound && len(allow) == 0:
	case status == http.StatusMethodNotAllowed && x.answer.Header.Get("Allow") == strings.Join(allow, ", "):
	case x.misframed():
	default:
		return []string{fmt.Sprintf("it has no such route (methods of the path: %s), Allow %q: %s", allow, x.answer.Header.Get("Allow"), x.answer.Raw)}
	}
	if x.method == http.MethodHead {
		return nil
	}
	return complaints(c.accessErr, x.answer.Raw)
}

// unsaid are response headers of HTTP itself, which the document leaves out.
var unsaid = []string{"Content-Length", "Content-Type", "Connection", "Date", "Transfer-Encoding"}

func (a answer) against(x exchange) []string {
	var found []string
	for name, values := range x.answer.Header {
		h, known := a.headers[name]
		switch {
		case slices.Contains(unsaid, name):
		case !known:
			found = append(found, "it has no response header "+name)
		case len(values) > 1:
			found = append(found, name+" is there twice")
		default:
			found = append(found, prefixed(name, complaintsOf(h.schema, values[0]))...)
		}
	}
	for name, h := range a.headers {
		if h.required && x.answer.Header.Get(name) == "" {
			found = append(found, "the header "+name+" is missing")
		}
	}
	kind, _, err := mime.ParseMediaType(x.answer.Header.Get("Content-Type"))
	schema, known := a.content[kind]
	switch {
	case err != nil || !known:
		found = append(found, fmt.Sprintf("it has no answer of the kind %q", x.answer.Header.Get("Content-Type")))
	case kind == "application/json":
		found = append(found, complaints(schema, x.answer.Raw)...)
	}
	return found
}

// againstRequest holds a request that was granted to the document.
func (o *operation) againstRequest(values map[string]string, rawQuery string, x exchange) []string {
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		return []string{"the query: " + err.Error()}
	}
	var found []string
	said := map[string]bool{}
	for _, p := range o.params {
		var sent []string
		switch p.in {
		case "path":
			sent = []string{values[p.name]}
		case "query":
			said[p.name] = true
			sent = query[p.name]
		case "header":
			sent = x.header.Values(p.name)
		}
		if len(sent) == 0 && p.required {
			found = append(found, p.name+" is missing")
		}
		for _, text := range sent {
			found = append(found, prefixed(p.in+" "+p.name, p.complaints(text))...)
		}
		if len(sent) > 1 {
			found = append(found, p.name+" was sent twice")
		}
	}
	for name := range query {
		if !said[name] {
			found = append(found, "it has no query parameter "+name)
		}
	}
	switch {
	case len(x.body) == 0 && o.bodyRequired:
		found = append(found, "a body is needed")
	case len(x.body) == 0:
	case o.body == nil && o.method != http.MethodGet && string(x.body) == "{}": // as good as none
	case o.body == nil:
		found = append(found, "it takes no body")
	default:
		found = append(found, prefixed("the request's body", complaints(o.body, x.body))...)
	}
	return found
}

func (p parameter) complaints(text string) []string {
	if p.typed == "integer" {
		return complaintsOf(p.schema, json.Number(text))
	}
	return complaintsOf(p.schema, text)
}

// complaints tells what a schema has against JSON.
func complaints(schema *jsonschema.Schema, text []byte) []string {
	v, err := decoded(text)
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

func prefixed(what string, texts []string) []string {
	for i, text := range texts {
		texts[i] = what + ": " + text
	}
	return texts
}

func canonical(name string) string { return http.CanonicalHeaderKey(name) }
