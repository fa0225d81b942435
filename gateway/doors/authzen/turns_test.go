package authzen_test

import (
	"context"
	"errors"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/doors/authzen"
	"github.com/portcullis-authz/portcullis/resources"
)

// turns is a gate with a note of the callers inside.
type turns struct {
	generous        *generous
	entered, inside int
	as              string
	err             error
}

func (g *turns) Enter(_ context.Context, account string) error {
	if g.err != nil {
		return g.err
	}
	if len(g.generous.asked) > 0 {
		return errors.New("policy is asked already")
	}
	g.as = account
	g.entered++
	g.inside++
	return nil
}

func (g *turns) Leave() { g.inside-- }

// TestBatchesTakeTurns guarantees that a batch waits for its turn before policy is asked, and gives the place back. A
// caller without an account waits in their own name. A single question needs no turn, and a batch without its turn is
// not judged.
func TestBatchesTakeTurns(t *testing.T) {
	const one = `"subject":{"type":"user","id":"bob"},"action":{"name":"project:x:read"},"resource":{"type":"account","id":"a"}`
	full := resources.Unavailable("full", errors.New("full"))
	for name, c := range map[string]struct {
		body           string
		err            error
		entered, asked int
	}{
		"a batch":             {`{` + one + `,"evaluations":[{},{}]}`, nil, 1, 2},
		"a single question":   {`{` + one + `}`, nil, 0, 1},
		"a batch for no turn": {`{` + one + `,"evaluations":[{},{}]}`, full, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := &generous{}
			gate := &turns{generous: g, err: c.err}
			call := g.call(c.body)
			call.Caller.ID = "service-s"
			a, err := authzen.Evaluations{Questions: g.questions(), Most: 5, Turns: gate}.Answer(t.Context(), call)
			if !errors.Is(err, c.err) || gate.entered != c.entered || len(g.asked) != c.asked || gate.inside != 0 || (a.Body == nil) != (c.err != nil) {
				t.Errorf("%v %s: %d entered, %d asked, %d inside", err, a.Body, gate.entered, len(g.asked), gate.inside)
			}
			if c.entered > 0 && gate.as != "service-s" {
				t.Errorf("as %q", gate.as)
			}
		})
	}
}
