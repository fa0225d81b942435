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
	Number  int64              `json:"n"`
	Subject *resources.Subject `json:"subject,omitempty"`
	// Input is the part of a masked input, in place of the subject.
	Input jsontext.Value `json:"input,omitempty"`
	// Changed says that a credential was taken out.
	Changed bool `json:"changed,omitzero"`
}

// factsTable knows which facts the segment has. Subjects never change, so that one which was seen
// before is known by its address; another of the same content by its digest.
type factsTable struct {
	last   int64
	known  map[weak.Pointer[resources.Subject]]int64
	digest map[[sha256.Size]byte]int64
}

func newFactsTable(last int64) *factsTable {
	return &factsTable{last: last, known: map[weak.Pointer[resources.Subject]]int64{}, digest: map[[sha256.Size]byte]int64{}}
}

// of returns the number of a subject's facts, and writes them where the segment does not have them.
func (t *factsTable) of(s *resources.Subject, c *chain) (int64, error) {
	if s == nil {
		return 0, nil
	}
	key := weak.Make(s)
	if n, known := t.known[key]; known {
		return n, nil
	}
	kept := s.Clone()
	kept.Keys, kept.PartnerID = nil, "" // no verdict rests on them
	raw, err := json.Marshal(kept)
	if err != nil {
		return 0, err
	}
	n, err := t.number(raw, "subject", c)
	if err == nil {
		t.known[key] = n
	}
	return n, err
}

// number returns the number of these facts, and writes them where the segment does not have them.
func (t *factsTable) number(raw []byte, member string, c *chain) (int64, error) {
	sum := sha256.Sum256(raw)
	if n, known := t.digest[sum]; known {
		return n, nil
	}
	c.begin("facts")
	o := object{buf: append(c.buf, '{'), first: true}
	o.number("n", t.last+1)
	o.raw(member, raw)
	o.flag("changed", o.changed)
	c.buf = append(o.buf, '}')
	if err := c.end(readable); err != nil {
		return 0, err
	}
	t.last++
	t.digest[sum] = t.last
	return t.last, nil
}
