package reuse

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// Never is the end of what has none: the last millisecond of the year 9999, the last
// that a time in JSON can name. A policy then compares one number, and a missing or
// zero end is one that has passed.
const Never resources.Time = 253_402_300_799_999

// EndOf returns the end of an assignment or a grant, Never for zero.
func EndOf(t resources.Time) resources.Time { return cmp.Or(t, Never) }

// Facts are what a key has of a subject from one end of an assignment until the next.
type Facts struct {
	digest [sha256.Size]byte
	// period is how many of the subject's ends have come: as long as it is the same, the same assignments run. from and
	// until bound it.
	period      int
	from, until resources.Time
	held        map[Place]bool // the places at which an assignment stands
	resources   bool           // one of them is a resource
}

// NewFacts returns the facts at a time of a subject who holds these roles. The terms are what the policy is told of it at
// a time before all ends: nothing that is added to them can be left out of the digest.
func NewFacts(held []resources.HeldRole, now resources.Time, terms ...*ast.Term) Facts {
	b := make(bytesOfTerms, 0, 256+192*len(held)) // which is enough where no role is a custom one
	for _, t := range terms {
		b.term(t)
	}
	f := Facts{digest: sha256.Sum256(b), from: math.MinInt64, until: math.MaxInt64, held: map[Place]bool{}}
	ends := make([]resources.Time, 0, len(held))
	for i := range held {
		ends = append(ends, EndOf(held[i].ExpiresAt))
		f.held[Place{held[i].ProjectID, held[i].ResourceID}] = true
		f.resources = f.resources || held[i].ResourceID != ""
	}
	slices.Sort(ends)
	for _, end := range slices.Compact(ends) {
		if now < end {
			f.until = end
			break
		}
		f.period, f.from = f.period+1, end
	}
	return f
}

// Cover says whether they are the facts at that time, too.
func (f *Facts) Cover(now resources.Time) bool { return f.from <= now && now < f.until }

// end returns when the next assignment ends; Never where none is left.
func (f *Facts) end() resources.Time { return min(f.until, Never) }

// Holds says whether the subject holds a role at the place itself.
func (f *Facts) Holds(at Place) bool { return f.held[at] }

// narrowest returns the narrowest place that covers this one and at which the subject holds a role: with the digest it
// tells which assignments are here.
func (f *Facts) narrowest(at Place) Place {
	if project := (Place{Project: at.Project}); f.resources && f.held[at] {
		return at
	} else if f.held[project] {
		return project
	}
	return Place{}
}

// bytesOfTerms has of each term its kind, a length and the content: no two terms have the
// same bytes.
type bytesOfTerms []byte

// term appends a term, so that unlike terms have unlike bytes.
func (b *bytesOfTerms) term(t *ast.Term) {
	switch v := t.Value.(type) {
	case ast.String:
		*b = appendText(append(*b, 's'), string(v))
	case ast.Object:
		*b = binary.AppendVarint(append(*b, 'o'), int64(v.Len()))
		v.Foreach(b.pair)
	case *ast.Array:
		*b = binary.AppendVarint(append(*b, 'a'), int64(v.Len()))
		v.Foreach(b.term)
	default: // a number or a boolean
		*b = appendText(append(*b, 'v'), v.String())
	}
}

func (b *bytesOfTerms) pair(key, value *ast.Term) {
	b.term(key)
	b.term(value)
}
