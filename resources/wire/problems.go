package wire

import (
	"fmt"

	"github.com/portcullis-authz/portcullis/resources"
)

// maxProblems is how many are told one by one: a body of the greatest length could hold
// half a million.
const maxProblems = 1000

// Problems collects what is wrong with one request, so that all of it is told at once.
type Problems struct {
	list []resources.Problem
	more int
}

// Add notes a problem of a field; field is "" for the request as a whole.
func (p *Problems) Add(field, format string, args ...any) {
	if len(p.list) == maxProblems {
		p.more++
		return
	}
	p.list = append(p.list, resources.Problem{Field: field, Text: fmt.Sprintf(format, args...)})
}

// Err is a BAD_REQUEST with all problems, or nil when there are none.
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
