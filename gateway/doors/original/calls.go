package original

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// Calls finds the rows of original calls. The zero value has no rows. It is safe for concurrent use.
type Calls struct{ rows atomic.Pointer[table] }

// table finds the rows of a catalogue, also those that the edge does not serve.
type table = route.Table[row]

type row struct {
	verdict.Route
	path route.Row
}

// Request is an original call.
type Request struct {
	// Host is its host's name, as route.ParseHost gives it; "" is not known.
	Host   string
	Method string
	// Path is the raw path, without the query.
	Path string
}

// Check says whether these rows could be taken into use.
func Check(routes []resources.Route) error {
	_, err := newTable(routes)
	return err
}

// Set takes the rows of a catalogue into use. On an error those in use stay.
func (c *Calls) Set(routes []resources.Route) error {
	t, err := newTable(routes)
	if err != nil {
		return err
	}
	c.rows.Store(t)
	return nil
}

func newTable(routes []resources.Route) (*table, error) {
	t := &table{}
	var problems []error
	for _, r := range routes {
		if err := insert(t, r); err != nil {
			problems = append(problems, fmt.Errorf("route %s (%s %s%s): %w", r.Name, r.Method, r.Host, r.Path, err))
		}
	}
	return t, errors.Join(problems...)
}

// insert adds a row of the catalogue to the table. Two rows with one method, host and path are an error.
func insert(t *table, r resources.Route) error {
	of, err := verdict.NewRoute(r)
	if err != nil {
		return err
	}
	path, err := route.ReadRow(r)
	if err != nil {
		return err
	}
	if other := t.Insert(route.KeyOf(r), path.Pattern, &row{of, path}); other != nil {
		return fmt.Errorf("has the method, host and path of route %s", other.Row.Name)
	}
	return nil
}

// Find returns the call of a row, as the edge would judge it. The account in question is the path's,
// else own. Errors are *resources.Error: KindBadRequest with all problems of a request that is not one of HTTP,
// KindNotFound where no row is for it, and KindBadRequest with all problems of the path.
func (c *Calls) Find(r Request, own string) (verdict.Call, error) {
	if problems := r.problems(); len(problems) > 0 {
		return verdict.Call{}, resources.BadRequest(problems...)
	}
	found, values := c.find(r)
	if found == nil {
		return verdict.Call{}, &resources.Error{Kind: resources.KindNotFound, Message: "No route of the catalogue is for this call."}
	}
	target, problems := found.path.Read(r.Path, values)
	if len(problems) > 0 {
		return verdict.Call{}, resources.BadRequest(problems...)
	}
	return found.Call(own, target, found.path.Named(values)), nil
}

// AnyMethod reports whether a row for any method is for the path.
func (c *Calls) AnyMethod(r Request) bool {
	r.Method = unnamed
	found, _ := c.find(r)
	return found != nil
}

// unnamed is a method that no row names.
const unnamed = "UNNAMED"

// Public says whether a row is for the call that is open to callers without a credential.
func (c *Calls) Public(r Request) bool {
	found, values := c.find(r)
	if found == nil || !found.Public {
		return false
	}
	_, problems := found.path.Read(r.Path, values)
	return len(problems) == 0
}

// find looks up a request.
func (c *Calls) find(r Request) (*row, []string) {
	t := c.rows.Load()
	if t == nil {
		return nil, nil
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	m := t.Find(r.Host, method, r.Path, nil)
	return m.Found, m.Values
}

// problems returns what no row can be looked up by.
func (r Request) problems() (out []resources.Problem) {
	if !route.ValidMethod(r.Method) {
		out = append(out, resources.Problem{Field: "method", Text: "must be an HTTP method in capital letters"})
	}
	if !strings.HasPrefix(r.Path, "/") {
		out = append(out, resources.Problem{Field: "path", Text: "must begin with /"})
	}
	return out
}
