package engine

import (
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
)

// stretch is how long a reload works before it rests for as long.
const stretch = time.Millisecond

// pace has a reload leave the processor to questions between its steps. On one core they
// would wait otherwise until the scheduler takes it away, 10 ms for each time that a
// question hands over from one goroutine to another. Giving way without sleeping does not
// help: the network is looked at when nothing else is to be done.
//
// Rejected: a thread of low priority, since with one core Go runs no other beside it; a
// process of its own, which could prove a tree but not hand it over.
//
// One goroutine uses it. Nil never rests: at a start nobody asks anything yet.
type pace struct {
	sleep func(time.Duration)
	since time.Time
}

func (p *pace) rest() {
	if p == nil || time.Since(p.since) < stretch {
		return
	}
	p.sleep(stretch)
	p.since = time.Now()
}

// between rests between the steps of a compiler.
func (p *pace) between(c *ast.Compiler) {
	if p == nil {
		return
	}
	for _, id := range ast.AllStages() {
		c.WithStageAfterID(id, ast.CompilerStageDefinition{Name: "Rest", Stage: func(*ast.Compiler) *ast.Error {
			p.rest()
			return nil
		}})
	}
}
