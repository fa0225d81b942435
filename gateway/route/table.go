package route

import (
	"net/http"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// The two forms of a last segment that takes the rest of the path: one or more segments, or any rest.
const (
	restParam  = "{rest+}"
	proxyParam = "{proxy+}"
)

// Table finds values of type T by host, method and raw path. The zero value is an empty table.
type Table[T any] struct {
	root node[T]
	// hosts are those that have values of their own.
	hosts map[string]bool
}

// Key is which calls of a path a value is for.
type Key struct {
	// Method is a method, or resources.AnyMethod.
	Method string
	// Host is a host's name in letters of any case; "" is every host.
	Host string
	// Own says the value is the gateway's own and open to anybody: a host with values of its own does not have it.
	Own bool
}

// KeyOf returns the key of a row of the catalogue. The gateway's own are those of its specification and of its doors.
func KeyOf(r resources.Route) Key {
	isOwn := r.Host == "" && (r.Spec != "" || r.Upstream == resources.UpstreamAuthorize)
	return Key{Method: r.Method, Host: r.Host, Own: isOwn && slices.Contains(r.Access, "public")}
}

// node is one segment of the patterns: a literal wins over a parameter, a parameter over the rest.
type node[T any] struct {
	literal map[string]*node[T]
	param   *node[T]
	// ends is what ends before this segment; rest is what takes all of the path from it on.
	ends, rest hosts[T]
}

// hosts holds the values of one pattern by host, "" for every host, and method.
type hosts[T any] map[string]map[string]held[T]

// held is a value that was inserted.
type held[T any] struct {
	v *T
	// some says that the rest of the path must not be empty; own is the key's.
	some, isOwn bool
}

// Match is what Find found: a value with those of the path's parameters, or else the methods that
// the path has on the host.
type Match[T any] struct {
	Found  *T
	Values []string
	Allow  []string

	host, method string
	// guest says that the host has no values of its own.
	guest bool
	// any says that a value for any method may be for this one.
	any bool
}

// ByHost says whether the table has a value for one host, so that Find has to know the host.
func (t *Table[T]) ByHost() bool { return len(t.hosts) > 0 }

// Insert adds a value for a key and a path with parameters, such as /a/{id}/{projectId:proj}/{rest+}. If they have a value
// already, it returns that one and adds nothing.
func (t *Table[T]) Insert(key Key, path string, v *T) (taken *T) {
	host := strings.ToLower(key.Host)
	if host != "" {
		if t.hosts == nil {
			t.hosts = map[string]bool{}
		}
		t.hosts[host] = true
	}
	h := held[T]{v: v, isOwn: key.Own}
	n := &t.root
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if segment == restParam || segment == proxyParam {
			h.some = segment == restParam
			return claim(&n.rest, host, key.Method, h)
		}
		n = n.child(segment)
	}
	return claim(&n.ends, host, key.Method, h)
}

func claim[T any](place *hosts[T], host, method string, h held[T]) (taken *T) {
	if *place == nil {
		*place = hosts[T]{}
	}
	if (*place)[host] == nil {
		(*place)[host] = map[string]held[T]{}
	}
	if taken = (*place)[host][method].v; taken == nil {
		(*place)[host][method] = h
	}
	return taken
}

// param returns the name of a segment that is a parameter, and the form its values must
// have: {projectId:proj} takes proj-<id>-v1 only.
func param(segment string) (name, form string, ok bool) {
	name, begins := strings.CutPrefix(segment, "{")
	name, ends := strings.CutSuffix(name, "}")
	name, form, _ = strings.Cut(name, ":")
	return name, form, begins && ends
}

// child returns the node for a segment of a pattern, made where it is not there.
func (n *node[T]) child(segment string) *node[T] {
	if _, _, ok := param(segment); ok {
		if n.param == nil {
			n.param = &node[T]{}
		}
		return n.param
	}
	if n.literal == nil {
		n.literal = map[string]*node[T]{}
	}
	if n.literal[segment] == nil {
		n.literal[segment] = &node[T]{}
	}
	return n.literal[segment]
}

// Find looks a raw path up, without its query. The host is as ParseHost gives it; "" is a host without values of its
// own. A host with values of its own does not have those with Own. The best value wins, segment by segment: a literal
// before a parameter before the rest; then one for the method before one for any; then one for the host before one for
// every host. The rest of a path is the last value. The values are in room, when they fit there.
func (t *Table[T]) Find(host, method, path string, room []string) Match[T] {
	m := Match[T]{Values: room, host: host, method: method, guest: !t.hosts[host], any: isAnyMethod(method)}
	if strings.HasPrefix(path, "/") && method != resources.AnyMethod { // which some client may send
		t.root.walk(path[1:], true, &m)
	}
	slices.Sort(m.Allow)
	m.Allow = slices.Compact(m.Allow) // several patterns may fit the path
	return m
}

// walk tries the literal child, then the parameter, then the rest; more says that
// there is a segment in path (an empty one at a trailing slash).
func (n *node[T]) walk(path string, more bool, m *Match[T]) bool {
	if !more {
		return m.fill(n.ends, false)
	}
	segment, rest, again := strings.Cut(path, "/")
	if child := n.literal[segment]; child != nil && child.walk(rest, again, m) {
		return true
	}
	if n.param != nil && segment != "" {
		m.Values = append(m.Values, segment)
		if n.param.walk(rest, again, m) {
			return true
		}
		m.Values = m.Values[:len(m.Values)-1]
	}
	if n.rest != nil && m.fill(n.rest, path == "") {
		m.Values = append(m.Values, path)
		return true
	}
	return false
}

// fill notes a place's best value, or without one the methods for an Allow header. It reports whether there is a value.
// Empty says whether the rest of the path is empty.
func (m *Match[T]) fill(h hosts[T], empty bool) bool {
	if m.Found = m.best(h, m.method, empty); m.Found != nil {
		return true
	}
	if m.method == http.MethodHead && m.best(h, http.MethodGet, empty) != nil {
		m.any = false // what is read by a GET of its own is not read by the HEAD of others
	}
	if m.any {
		m.Found = m.best(h, resources.AnyMethod, empty)
	}
	if m.Found != nil {
		return true
	}
	m.allow(h[""], empty)
	if m.host != "" {
		m.allow(h[m.host], empty)
	}
	return false
}

// best returns the value for the method: the host's before every host's.
func (m *Match[T]) best(place hosts[T], method string, empty bool) *T {
	for _, host := range [...]string{m.host, ""} {
		if h := place[host][method]; h.v != nil && m.takes(h, empty) {
			return h.v
		}
	}
	return nil
}

// takes says whether the value may be for the call. Empty says that the rest of the path is.
func (m *Match[T]) takes(h held[T], empty bool) bool {
	return (!h.some || !empty) && (!h.isOwn || m.guest)
}

func (m *Match[T]) allow(methods map[string]held[T], empty bool) {
	for name, h := range methods {
		if name != resources.AnyMethod && m.takes(h, empty) {
			m.Allow = append(m.Allow, name)
		}
	}
}

// maxMethod bounds a method's name in bytes.
const maxMethod = 32

// ValidMethod says whether all servers read the method alike: capital letters and hyphens. Some
// servers fold letters.
func ValidMethod(method string) bool {
	for i := range len(method) {
		if (method[i] < 'A' || method[i] > 'Z') && method[i] != '-' {
			return false
		}
	}
	return 0 < len(method) && len(method) <= maxMethod
}

// isAnyMethod says whether resources.AnyMethod stands for the method. CONNECT asks for a tunnel, and
// the answer to TRACE shows the caller what the gateway said of them.
func isAnyMethod(method string) bool {
	return ValidMethod(method) && method != http.MethodConnect && method != http.MethodTrace
}
