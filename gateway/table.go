package gateway

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// paramAccount is the parameter against which an account claim is held.
const paramAccount = "accountId"

// entry is a route that is ready to be served.
type entry struct {
	verdict.Route
	pattern route.Pattern
	// One of the three serves it.
	door     doors.Door
	handler  wire.Handler
	upstream *upstream
}

// table finds entries by method and raw path.
type table = route.Table[entry]

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
			err = insert(t, e)
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

// insert adds an entry under its method and path.
func insert(t *table, e *entry) (err error) {
	if e.pattern, err = route.ParsePattern(e.Row.Path); err != nil {
		return err
	}
	if e.Row.Claims && !slices.Contains(e.pattern.Params, paramAccount) {
		return fmt.Errorf("claims are held against the path's {%s}, and it has none", paramAccount)
	}
	if other := t.Insert(e.Row.Method, e.pattern, e); other != nil {
		return fmt.Errorf("has the method and path of route %s", other.Row.Name)
	}
	return nil
}
