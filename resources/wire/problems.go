package wire

import (
	"fmt"

	"github.com/portcullis-authz/portcullis/resources"
)

// Problems collects what is wrong with one request, so that all of it is told at once.
type Problems struct{ list []resources.Problem }

// Add notes a problem of a field; field is "" for the request as a whole.
func (p *Problems) Add(field, format string, args ...any) {
	p.list = append(p.list, resources.Problem{Field: field, Text: fmt.Sprintf(format, args...)})
}

// Err is a BAD_REQUEST with all problems, or nil when there are none.
func (p *Problems) Err() error {
	if len(p.list) == 0 {
		return nil
	}
	return resources.BadRequest(p.list...)
}
