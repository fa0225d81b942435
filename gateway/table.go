package gateway

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// restParam is the last segment of a pattern that takes the rest of the path.
const restParam = "{proxy+}"

// paramAccount is the parameter against which an account claim is held.
const paramAccount = "accountId"

// entry is a route that is ready to be served.
type entry struct {
	resources.Route
	action resources.Action
	public bool
	params []string
	// forms are the id prefixes that parameters must have, "" for any plain identifier.
	forms   []string
	handler wire.Handler
	proxy   *proxy
	answers bool // the gateway answers by itself: E3
}

// table finds routes by method and raw path.
type table struct{ root node }

// node is one segment of the patterns: a literal wins over a parameter, a parameter
// over the rest.
type node struct {
	literal map[string]*node
	param   *node
	rest    map[string]*entry
	methods map[string]*entry
}

// match is what find found: the entry and the values of its parameters, or the
// methods that the path does have.
type match struct {
	entry  *entry
	values []string
	allow  []string
}

// newTable binds every row of the catalogue to what serves it. A row without a
// server, a handler without a row and two rows for one method and path are errors;
// all of them are told at once.
func newTable(routes []resources.Route, serve server) (*table, error) {
	t := &table{}
	var problems []string
	used := map[string]bool{}
	for _, r := range routes {
		e, err := serve.bind(r)
		if err == nil {
			err = t.root.insert(e)
		}
		if err != nil {
			problems = append(problems, fmt.Sprintf("route %s (%s %s): %v", r.Name, r.Method, r.Path, err))
		}
		used[r.Upstream+"\x00"+r.Name] = true
	}
	problems = append(problems, serve.unbound(used)...)
	if len(problems) > 0 {
		sort.Strings(problems)
		return nil, fmt.Errorf("the catalogue and the handlers do not fit: %s", strings.Join(problems, "; "))
	}
	return t, nil
}

func (n *node) insert(e *entry) error {
	if !strings.HasPrefix(e.Path, "/") {
		return fmt.Errorf("the path must begin with /")
	}
	for segment := range strings.SplitSeq(e.Path[1:], "/") {
		if segment == restParam {
			if !strings.HasSuffix(e.Path, "/"+restParam) {
				return fmt.Errorf("%s must be the last segment", restParam)
			}
			return claim(&n.rest, e)
		}
		if name, form, ok := param(segment); ok {
			if slices.Contains(e.params, name) {
				return fmt.Errorf("has the parameter %s twice", name)
			}
			if form != "" && !resources.KnownIDForm(form) {
				return fmt.Errorf("parameter %s: there are no ids of the form %s-<id>-v1", name, form)
			}
		}
		n = n.child(segment, e)
	}
	return claim(&n.methods, e)
}

// param is the name of a segment that is a parameter, and the form its values must
// have: {projectId:proj} takes proj-<id>-v1 only.
func param(segment string) (name, form string, ok bool) {
	name, begins := strings.CutPrefix(segment, "{")
	name, ends := strings.CutSuffix(name, "}")
	name, form, _ = strings.Cut(name, ":")
	return name, form, begins && ends
}

func (n *node) child(segment string, e *entry) *node {
	if name, form, ok := param(segment); ok {
		e.params, e.forms = append(e.params, name), append(e.forms, form)
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

func claim(methods *map[string]*entry, e *entry) error {
	if e.Claims && !slices.Contains(e.params, paramAccount) {
		return fmt.Errorf("claims are held against the path's {%s}, and it has none", paramAccount)
	}
	if *methods == nil {
		*methods = map[string]*entry{}
	}
	if other := (*methods)[e.Method]; other != nil {
		return fmt.Errorf("has the method and path of route %s", other.Name)
	}
	(*methods)[e.Method] = e
	return nil
}

// find looks a raw path up, without its query. The rest of a {proxy+} route is the
// last value, and may be empty. The values are in room, when they fit there.
func (t *table) find(method, path string, room []string) match {
	m := match{values: room}
	if strings.HasPrefix(path, "/") {
		t.root.walk(method, path[1:], true, &m)
	}
	slices.Sort(m.allow)
	m.allow = slices.Compact(m.allow) // several patterns may fit the path
	return m
}

// walk tries the literal child, then the parameter, then the rest; more says that
// there is a segment in path (an empty one at a trailing slash).
func (n *node) walk(method, path string, more bool, m *match) bool {
	if !more {
		return n.take(n.methods, method, m)
	}
	segment, rest, again := strings.Cut(path, "/")
	if child := n.literal[segment]; child != nil && child.walk(method, rest, again, m) {
		return true
	}
	if n.param != nil && segment != "" {
		m.values = append(m.values, segment)
		if n.param.walk(method, rest, again, m) {
			return true
		}
		m.values = m.values[:len(m.values)-1]
	}
	if n.rest != nil && n.take(n.rest, method, m) {
		m.values = append(m.values, path)
		return true
	}
	return false
}

func (n *node) take(methods map[string]*entry, method string, m *match) bool {
	if e := methods[method]; e != nil {
		m.entry = e
		return true
	}
	for name := range methods {
		m.allow = append(m.allow, name)
	}
	return false
}
