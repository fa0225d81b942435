package wire

import (
	"fmt"

	"github.com/portcullis-authz/portcullis/resources"
)

// maxProblems bounds the problems that one response lists. A body has room for half a million.
const maxProblems = 1000

// Problems holds all that is wrong with one request.
type Problems struct {
	list []resources.Problem
	more int // problems beyond maxProblems, which are counted only
}

// Add adds a problem of a field; field is "" for the request as a whole.
func (p *Problems) Add(field, format string, args ...any) {
	if len(p.list) == maxProblems {
		p.more++
		return
	}
	p.list = append(p.list, resources.Problem{Field: field, Text: fmt.Sprintf(format, args...)})
}

// Err returns a KindBadRequest error with all problems, or nil when there are none.
func (p *Problems) Err() error {
	if len(p.list) == 0 {
		return nil
	}
	if p.more > 0 {
		more := resources.Problem{Text: fmt.Sprintf("there are %d more problems", p.more)}
		return resources.BadRequest(append(p.list[:maxProblems:maxProblems], more)...)
	}
	return resources.BadRequest(p.list...)
}
