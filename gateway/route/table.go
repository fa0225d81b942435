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

// Table finds rows by host, method and raw path. The zero value is an empty table.
type Table struct {
	root node
	// hosts are those that have rows of their own.
	hosts map[string]bool
}

// node is one segment of the patterns: a literal wins over a parameter, a parameter over the rest.
type node struct {
	literal map[string]*node
	param   *node
	// ends is what ends before this segment; rest is what takes all of the path from it on.
	ends, rest hosts
}

// hosts holds the rows of one pattern by host, "" for every host, and method.
type hosts map[string]map[string]*Row

// Match is the row of a call, nil for none, with what the path says.
type Match struct {
	*Row
	// Values are those of the path's parameters.
	Values []string
	// Place is what the path names, once somebody has read it (Row.Read).
	Place resources.Target
	// Allow has the methods that the path has on the host, if there is no row.
	Allow []string

	host, method string
	// guest says that the host has no rows of its own.
	guest bool
	// any says that a row for any method may be for this one.
	any bool
}

// ByHost says whether the table has a row for one host, so that Find has to know the host.
func (t *Table) ByHost() bool { return len(t.hosts) > 0 }

// Insert adds a row. If a row has its method, host and path already, it returns that one and adds nothing.
func (t *Table) Insert(row *Row) (taken *Row) {
	host := strings.ToLower(row.Route.Host)
	if host != "" {
		if t.hosts == nil {
			t.hosts = map[string]bool{}
		}
		t.hosts[host] = true
	}
	n := &t.root
	for segment := range strings.SplitSeq(strings.TrimPrefix(row.Route.Path, "/"), "/") {
		if segment == restParam || segment == proxyParam {
			return claim(&n.rest, host, row)
		}
		n = n.child(segment)
	}
	return claim(&n.ends, host, row)
}

func claim(place *hosts, host string, row *Row) (taken *Row) {
	if *place == nil {
		*place = hosts{}
	}
	if (*place)[host] == nil {
		(*place)[host] = map[string]*Row{}
	}
	if taken = (*place)[host][row.Route.Method]; taken == nil {
		(*place)[host][row.Route.Method] = row
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
func (n *node) child(segment string) *node {
	if _, _, ok := param(segment); ok {
		if n.param == nil {
			n.param = &node{}
		}
		return n.param
	}
	if n.literal == nil {
		n.literal = map[string]*node{}
	}
	if n.literal[segment] == nil {
		n.literal[segment] = &node{}
	}
	return n.literal[segment]
}

// Find looks a raw path up, without its query. The host is as ParseHost gives it; "" is a host without rows of its own. A
// host with rows of its own does not have the gateway's own (Row.Own). The best row wins, segment by segment: a literal
// before a parameter before the rest; then one for the method before one for any; then one for the host before one for
// every host. The rest of a path is the last value. The values are in room, when they fit there.
func (t *Table) Find(host, method, path string, room []string) Match {
	m := Match{Values: room, host: host, method: method, guest: !t.hosts[host], any: isAnyMethod(method)}
	if strings.HasPrefix(path, "/") && method != resources.AnyMethod { // which some client may send
		t.root.walk(path[1:], true, &m)
	}
	slices.Sort(m.Allow)
	m.Allow = slices.Compact(m.Allow) // several patterns may fit the path
	return m
}

// walk tries the literal child, then the parameter, then the rest; more says that
// there is a segment in path (an empty one at a trailing slash).
func (n *node) walk(path string, more bool, m *Match) bool {
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

// fill notes a place's best row, or without one the methods for an Allow header. It reports whether there is a row.
// Empty says whether the rest of the path is empty.
func (m *Match) fill(h hosts, empty bool) bool {
	if m.Row = m.best(h, m.method, empty); m.Row != nil {
		return true
	}
	if m.method == http.MethodHead && m.best(h, http.MethodGet, empty) != nil {
		m.any = false // what is read by a GET of its own is not read by the HEAD of others
	}
	if m.any {
		m.Row = m.best(h, resources.AnyMethod, empty)
	}
	if m.Row != nil {
		return true
	}
	m.allow(h[""], empty)
	if m.host != "" {
		m.allow(h[m.host], empty)
	}
	return false
}

// best returns the row for the method: the host's before every host's.
func (m *Match) best(place hosts, method string, empty bool) *Row {
	for _, host := range [...]string{m.host, ""} {
		if row := place[host][method]; row != nil && m.takes(row, empty) {
			return row
		}
	}
	return nil
}

// takes says whether the row may be for the call. Empty says that the rest of the path is.
func (m *Match) takes(row *Row, empty bool) bool {
	return (!empty || !strings.HasSuffix(row.Route.Path, restParam)) && (m.guest || !row.Own())
}

func (m *Match) allow(methods map[string]*Row, empty bool) {
	for name, row := range methods {
		if name != resources.AnyMethod && m.takes(row, empty) {
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
