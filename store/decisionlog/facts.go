package decisionlog

import (
	"crypto/sha256"
	"weak"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/portcullis-authz/portcullis/resources"
)

// facts is what is known of a subject. Records of the same segment name it by its number.
type facts struct {
	Number int64 `json:"n"`
	// Subject is a resources.Subject, or Input the part of a masked input in its place.
	Subject jsontext.Value `json:"subject,omitempty"`
	Input   jsontext.Value `json:"input,omitempty"`
	// Changed says that a credential was removed.
	Changed bool `json:"changed,omitzero"`
	// subject is Subject as it was read.
	subject *resources.Subject
}

// factsTable knows which facts the segment has. Subjects never change: it finds a known subject by its address, and
// another of the same content by its digest.
type factsTable struct {
	last      int64
	byAddress map[weak.Pointer[resources.Subject]]int64
	byDigest  map[[sha256.Size]byte]int64
}

func newFactsTable(last int64) *factsTable {
	return &factsTable{last: last, byAddress: map[weak.Pointer[resources.Subject]]int64{}, byDigest: map[[sha256.Size]byte]int64{}}
}

// subject returns the number of a subject's facts, 0 for nil. It writes facts that the segment does not have.
func (t *factsTable) subject(s *resources.Subject, c *chain) (int64, error) {
	if s == nil {
		return 0, nil
	}
	address := weak.Make(s)
	if n, seen := t.byAddress[address]; seen {
		return n, nil
	}
	kept := s.Clone()
	kept.Keys, kept.PartnerID = nil, "" // no verdict reads them
	raw, err := json.Marshal(kept)
	if err != nil {
		return 0, err
	}
	n, err := t.number(facts{Subject: raw}, c)
	if err == nil {
		t.byAddress[address] = n
	}
	return n, err
}

// number returns the number of facts. It writes facts that the segment does not have.
func (t *factsTable) number(f facts, c *chain) (int64, error) {
	digest := sha256.Sum256(append(f.Subject, f.Input...))
	if n, seen := t.byDigest[digest]; seen {
		return n, nil
	}
	var clean cleaner
	f.Number, f.Subject, f.Input = t.last+1, clean.value(f.Subject), clean.value(f.Input)
	f.Changed = clean.changed
	if err := c.add(line{Facts: &f}); err != nil {
		return 0, err
	}
	t.last++
	t.byDigest[digest] = t.last
	return t.last, nil
}
