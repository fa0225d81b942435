package route

import (
	"fmt"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// restParam is the last segment of a pattern that takes the rest of the path.
const restParam = "{proxy+}"

// Table finds values of type T by method and raw path. The zero value is an empty table.
type Table[T any] struct{ root node[T] }

// Pattern is a path with parameters, such as /a/{id}/{projectId:proj}/{proxy+}.
type Pattern struct {
	Path string
	// Params are the parameters' names; Forms the id prefixes that their values must have, "" for
	// any plain identifier. The rest of a path is the last value and has no name.
	Params, Forms []string
}

// node is one segment of the patterns: a literal wins over a parameter, a parameter over the rest.
type node[T any] struct {
	literal map[string]*node[T]
	param   *node[T]
	rest    map[string]*T
	methods map[string]*T
}

// Match is what Find found: a value with those of the path's parameters, or else the methods that
// the path has.
type Match[T any] struct {
	Found  *T
	Values []string
	Allow  []string
}

// ParsePattern reads a path's parameters. The error says what is wrong with the path.
func ParsePattern(path string) (Pattern, error) {
	p := Pattern{Path: path}
	if !strings.HasPrefix(path, "/") {
		return p, fmt.Errorf("the path must begin with /")
	}
	for segment := range strings.SplitSeq(path[1:], "/") {
		if segment == restParam {
			if !strings.HasSuffix(path, "/"+restParam) {
				return p, fmt.Errorf("%s must be the last segment", restParam)
			}
			break
		}
		name, form, ok := param(segment)
		if !ok {
			continue
		}
		if slices.Contains(p.Params, name) {
			return p, fmt.Errorf("has the parameter %s twice", name)
		}
		if form != "" && !resources.KnownIDForm(form) {
			return p, fmt.Errorf("parameter %s: there are no ids of the form %s-<id>-v1", name, form)
		}
		p.Params, p.Forms = append(p.Params, name), append(p.Forms, form)
	}
	return p, nil
}

// Insert adds a value for a method and pattern; where that place is taken it gives the value that has it.
func (t *Table[T]) Insert(method string, p Pattern, v *T) (taken *T) {
	n := &t.root
	for segment := range strings.SplitSeq(strings.TrimPrefix(p.Path, "/"), "/") {
		if segment == restParam {
			return claim(&n.rest, method, v)
		}
		n = n.child(segment)
	}
	return claim(&n.methods, method, v)
}

func claim[T any](methods *map[string]*T, method string, v *T) (taken *T) {
	if *methods == nil {
		*methods = map[string]*T{}
	}
	if taken = (*methods)[method]; taken == nil {
		(*methods)[method] = v
	}
	return taken
}

// param is the name of a segment that is a parameter, and the form its values must
// have: {projectId:proj} takes proj-<id>-v1 only.
func param(segment string) (name, form string, ok bool) {
	name, begins := strings.CutPrefix(segment, "{")
	name, ends := strings.CutSuffix(name, "}")
	name, form, _ = strings.Cut(name, ":")
	return name, form, begins && ends
}

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

// Find looks a raw path up, without its query. The rest of a {proxy+} pattern is the last value,
// and may be empty. The values are in room, when they fit there.
func (t *Table[T]) Find(method, path string, room []string) Match[T] {
	m := Match[T]{Values: room}
	if strings.HasPrefix(path, "/") {
		t.root.walk(method, path[1:], true, &m)
	}
	slices.Sort(m.Allow)
	m.Allow = slices.Compact(m.Allow) // several patterns may fit the path
	return m
}

// walk tries the literal child, then the parameter, then the rest; more says that
// there is a segment in path (an empty one at a trailing slash).
func (n *node[T]) walk(method, path string, more bool, m *Match[T]) bool {
	if !more {
		return m.fill(n.methods, method)
	}
	segment, rest, again := strings.Cut(path, "/")
	if child := n.literal[segment]; child != nil && child.walk(method, rest, again, m) {
		return true
	}
	if n.param != nil && segment != "" {
		m.Values = append(m.Values, segment)
		if n.param.walk(method, rest, again, m) {
			return true
		}
		m.Values = m.Values[:len(m.Values)-1]
	}
	if n.rest != nil && m.fill(n.rest, method) {
		m.Values = append(m.Values, path)
		return true
	}
	return false
}

// fill notes what is served at a path: the value of the HTTP method, or the methods for an Allow
// header where that one is not among them. It says whether the method is.
func (m *Match[T]) fill(methods map[string]*T, method string) bool {
	if v := methods[method]; v != nil {
		m.Found = v
		return true
	}
	for name := range methods {
		m.Allow = append(m.Allow, name)
	}
	return false
}
