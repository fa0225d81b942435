package authzen_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/catalogue"
	"github.com/portcullis-authz/portcullis/gateway/doors/authzen"
	"github.com/portcullis-authz/portcullis/resources"
)

// things are the rows of calls. There is one row.
var things = func() *catalogue.Index {
	x, err := catalogue.New([]resources.Route{{
		Name: "read", Method: "GET", Path: "/things/{id}", Action: "project:thing:read", Upstream: resources.UpstreamExternal,
	}})
	if err != nil {
		panic(err)
	}
	return x
}()

// TestARouteIsJudgedByTheTreeOfItsRow guarantees a refusal of a question about a route if the row is of another tree than
// the verdict. Questions about anything else need no row.
func TestARouteIsJudgedByTheTreeOfItsRow(t *testing.T) {
	const subject, route = `{"subject":{"type":"user","id":"bob"},"action":{"name":"GET"},`, `"resource":{"type":"route","id":"/things/1"}`
	const path = `"resource":{"type":"path","id":"x/y"},"action":{"name":"project:x:read"}`
	for name, c := range map[string]struct {
		body     string
		revision string
		refused  bool
	}{
		"the row's tree":             {subject + route + `}`, "r", false},
		"another tree":               {subject + route + `}`, "before", true},
		"the row's tree, in a batch": {subject + `"evaluations":[{` + route + `},{` + path + `}]}`, "r", false},
		"another tree, in a batch":   {subject + `"evaluations":[{` + path + `},{` + route + `}]}`, "before", true},
		"no route":                   {subject + `"evaluations":[{` + path + `}]}`, "before", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := &generous{}
			call := g.call(c.body)
			call.Revision = c.revision
			_, err := authzen.Evaluations{Questions: g.questions(), Most: 5, Turns: g}.Answer(t.Context(), call)
			if c.refused != resources.IsKind(err, resources.KindUnavailable) || !c.refused && err != nil || c.refused == (len(g.asked) > 0) {
				t.Errorf("%v, and policy was asked %d times", err, len(g.asked))
			}
		})
	}
}
