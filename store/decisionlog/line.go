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

// line is a line of a segment. Exactly one of the members below Prev is there.
type line struct {
	// Prev is the hash of the line before, also that of the segment before; "" for the first of all.
	Prev    string         `json:"prev"`
	Start   *start         `json:"start"`
	Missing *missing       `json:"missing"`
	Facts   *facts         `json:"facts"`
	Told    *told          `json:"told"`
	Event   *maskedEvent   `json:"event"`
	Lost    *lost          `json:"lost"`
	Dropped *lost          `json:"dropped"`
	End     *end           `json:"end"`
	Rest    jsontext.Value `json:",unknown"`
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

// missing says that a start has found the log without a line that the store knew, or that it could not know where the log
// had ended.
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
	for _, there := range []bool{l.Start != nil, l.Missing != nil, l.Facts != nil, l.Told != nil, l.Event != nil, l.Lost != nil, l.Dropped != nil, l.End != nil} {
		if there {
			members++
		}
	}
	if members != 1 || len(l.Rest) > 0 {
		return line{}, errForm
	}
	return l, nil
}

// readable returns an error for a line that can't be read.
func readable(raw []byte) error {
	_, err := readLine(raw)
	return err
}

// isJSON returns an error for a line that is not JSON: texts that are not UTF-8, and two members of one name, count as such.
func isJSON(raw []byte) error {
	if !jsontext.Value(raw).IsValid() {
		return errForm
	}
	return nil
}

// shape returns the hash that a line has of the line before it, and the name of its other member. It looks at the bytes
// alone, so that a line which can't be read has its place in the chain, too.
func shape(raw []byte) (prev, kind string) {
	rest, found := bytes.CutPrefix(raw, []byte(`{"prev":"`))
	hash, rest, closed := bytes.Cut(rest, []byte(`","`))
	if !found || !closed {
		return "", ""
	}
	name, _, _ := bytes.Cut(rest, []byte{'"'})
	return string(hash), string(name)
}

// whole says whether a line was written to its end: a write that a crash has cut off leaves no JSON.
func whole(raw []byte) bool {
	return jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// hash names a line.
func hash(raw []byte) string {
	sum := sha256.Sum256(raw)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// chain appends lines to a segment.
type chain struct {
	// buf has the lines that are not yet written.
	buf []byte
	// last is the hash of the last line, lines their number.
	last  string
	lines int64
	from  int // where the line that is being made begins
}

// begin begins a line with one member.
func (c *chain) begin(member string) {
	c.from = len(c.buf)
	c.buf = append(append(append(c.buf, `{"prev":"`...), c.last...), `","`...)
	c.buf = append(append(c.buf, member...), `":`...)
}

// end ends the line and reads it back. A line that can't be read is taken away.
func (c *chain) end(check func(raw []byte) error) error {
	c.buf = append(c.buf, '}')
	raw := c.buf[c.from:]
	if err := check(raw); err != nil {
		c.buf = c.buf[:c.from]
		return err
	}
	c.last = hash(raw)
	c.buf = append(c.buf, '\n')
	c.lines++
	return nil
}

// add adds a line.
func (c *chain) add(member string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	c.begin(member)
	c.buf = append(c.buf, raw...)
	return c.end(readable)
}

// lastLine returns the last line of a text that ends with a line break.
func lastLine(text []byte) []byte {
	text = bytes.TrimSuffix(text, []byte{'\n'})
	return text[bytes.LastIndexByte(text, '\n')+1:]
}

// nextLine cuts the first line off; whole is false where its line break is missing.
func nextLine(text []byte) (raw, rest []byte, whole bool) { return bytes.Cut(text, []byte{'\n'}) }
