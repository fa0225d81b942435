package private

import "github.com/portcullis-authz/portcullis/resources"

import "github.com/portcullis-authz/portcullis/store/decisionlog"

// What tests of the package see of its inside.
const (
	MaxRefusal = maxRefusal
	Unordered  = unordered
)

// ReadQuery is readQuery.
func ReadQuery(raw string) (Query, error) { return readQuery(raw) }

// Overlap is overlap.
type Overlap struct{ overlap }

// Before is overlap.before.
func (o *Overlap) Before(e *decisionlog.Event) bool { return o.before(e) }

// From is overlap.from.
func (o *Overlap) From(began resources.Time) resources.Time { return o.begin(began) }

// Known returns how many decisions are remembered.
func (o *Overlap) Known() int { return len(o.times) }
