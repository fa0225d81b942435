package decisionlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// line is a line of a segment. It has exactly one of the members below Prev.
type line struct {
	// Prev is the hash of the line before, also that of the segment before; "" for the first of all.
	Prev    string       `json:"prev"`
	Start   *start       `json:"start,omitzero"`
	Missing *missing     `json:"missing,omitzero"`
	Facts   *facts       `json:"facts,omitzero"`
	Record  *record      `json:"told,omitzero"`
	Event   *maskedEvent `json:"event,omitzero"`
	Lost    *lost        `json:"lost,omitzero"`
	Dropped *lost        `json:"dropped,omitzero"`
	End     *end         `json:"end,omitzero"`
}

// start begins a segment.
type start struct {
	Segment int64  `json:"segment"`
	Log     string `json:"log"`
	Form    int    `json:"form"`
	Version string `json:"version"`
	At      string `json:"at"`
	// SignsHeads is false of programs that kept heads without a signature.
	SignsHeads bool `json:"signs_heads,omitzero"`
}

// form is the form of the lines that this program writes.
const form = 1

// missing says that a start did not find a line of the store's head, or found no signed head.
type missing struct {
	Segment int64  `json:"segment"`
	Line    int64  `json:"line"`
	Hash    string `json:"hash"`
	// Unproved says that the store had no head of the log, or one without a valid signature.
	Unproved bool `json:"unproved,omitzero"`
}

// lost says how many verdicts were told and are not in the log, since they could not be written, or since the policy
// tree has dropped them.
type lost struct {
	Verdicts uint64 `json:"verdicts"`
	At       string `json:"at"`
	// Accounts are whose callers were told them, of lost ones alone.
	Accounts map[string]uint64 `json:"accounts,omitempty"`
}

var errForm = errors.New("is not a line of a decision log")

// readLine reads a line without its line break.
func readLine(raw []byte) (l line, err error) {
	if err := json.Unmarshal(raw, &l); err != nil {
		return line{}, fmt.Errorf("%w: %w", errForm, err)
	}
	members := 0
	for _, present := range []bool{l.Start != nil, l.Missing != nil, l.Facts != nil, l.Record != nil, l.Event != nil, l.Lost != nil, l.Dropped != nil, l.End != nil} {
		if present {
			members++
		}
	}
	if members != 1 {
		return line{}, errForm
	}
	if l.Facts != nil && len(l.Facts.Subject) > 0 {
		if err := json.Unmarshal(l.Facts.Subject, &l.Facts.subject); err != nil {
			return line{}, fmt.Errorf("%w: %w", errForm, err)
		}
	}
	return l, nil
}

// shape returns the hash that a line has of the line before it, and the name of its other member. It looks at the bytes
// alone: an unreadable line has its place in the chain, too.
func shape(raw []byte) (prev, kind []byte) {
	rest, ok := bytes.CutPrefix(raw, []byte(`{"prev":"`))
	prev, rest, closed := bytes.Cut(rest, []byte(`","`))
	if !ok || !closed {
		return nil, nil
	}
	kind, _, _ = bytes.Cut(rest, []byte{'"'})
	return prev, kind
}

// whole says whether a line was written to its end: a write that a crash has cut off leaves no JSON.
func whole(raw []byte) bool {
	return jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// hash names a line.
func hash(raw []byte) string {
	sum := sha256.Sum256(raw)
	var text [(8*sha256.Size + 5) / 6]byte
	base64.RawURLEncoding.Encode(text[:], sum[:])
	return string(text[:])
}

// chain appends lines to a segment.
type chain struct {
	chainEnd
	// buf has the lines that are not yet written.
	buf bytes.Buffer
	// line and record are those that were added last: the encoder would have new ones on the heap.
	line   line
	record record
}

// chainEnd is the hash of the last line, and how many lines the segment has.
type chainEnd struct {
	last  string
	lines int64
}

// add adds a line, and reads it back unless the encoder alone shows that it can be read. A line that can't be read is
// taken away.
func (c *chain) add(l line) error {
	c.line, c.line.Prev = l, c.last
	offset := c.buf.Len()
	err := json.MarshalWrite(&c.buf, &c.line)
	raw := c.buf.Bytes()[offset:]
	if err == nil && (l.Record == nil || !l.Record.plain()) {
		_, err = readLine(raw)
	}
	if err != nil {
		c.buf.Truncate(offset)
		return err
	}
	c.last = hash(raw)
	c.buf.WriteByte('\n')
	c.lines++
	return nil
}

// lastLine returns the last line of a text that ends with a line break.
func lastLine(text []byte) []byte {
	text = bytes.TrimSuffix(text, []byte{'\n'})
	return text[bytes.LastIndexByte(text, '\n')+1:]
}

// nextLine cuts the first line off; whole is false where its line break is missing.
func nextLine(text []byte) (raw, rest []byte, whole bool) { return bytes.Cut(text, []byte{'\n'}) }
