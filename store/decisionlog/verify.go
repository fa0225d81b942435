package decisionlog

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// Report is what a verification has found.
type Report struct {
	Logs, Segments, Records int64
	// Lost counts the verdicts that are missing by the log's own count, LostOf those of each account.
	Lost   uint64
	LostOf map[string]uint64
	// Findings say what is not as it was written.
	Findings []Finding
	// EndKnown says that the end of each log was compared with the store's head.
	EndKnown bool
}

// Finding is one thing that is not as it was written.
type Finding struct {
	Log     string
	Segment int64
	// Line is 0 for the segment as a whole.
	Line    int64
	Problem string
}

// String names the place and the problem.
func (f Finding) String() string {
	switch {
	case f.Segment == 0:
		return fmt.Sprintf("log %s: %s", f.Log, f.Problem)
	case f.Line == 0:
		return fmt.Sprintf("log %s, segment %d: %s", f.Log, f.Segment, f.Problem)
	}
	return fmt.Sprintf("log %s, segment %d, line %d: %s", f.Log, f.Segment, f.Line, f.Problem)
}

// VerifyOptions say what a folder is compared with.
type VerifyOptions struct {
	// Secrets are those of Options. Without one no signature is checked.
	Secrets [][]byte
	// Heads are the store's; nil without a store.
	Heads []Head
	// Alone says that no other folder has logs of this store.
	Alone bool
}

// Verify compares the logs of a folder with their hashes, their signatures and the heads. The error is
// one of reading.
func Verify(ctx context.Context, dir string, o VerifyOptions) (*Report, error) {
	dirs, err := logsIn(dir)
	if err != nil {
		return nil, err
	}
	v := &verifier{VerifyOptions: o, keys: newKeys(o.Secrets), report: &Report{EndKnown: o.Heads != nil, LostOf: map[string]uint64{}}, seen: map[string]string{}}
	for _, dir := range dirs {
		if err := v.log(ctx, dir); err != nil {
			return nil, err
		}
	}
	for _, h := range o.Heads {
		if v.seen[h.Log] == "" && (o.Alone || v.report.Logs == 0) {
			v.find(h.Log, 0, 0, "the store knows of this log, and nothing of it is in the folder")
		}
	}
	return v.report, nil
}

type verifier struct {
	VerifyOptions
	keys   keys
	report *Report
	// seen has the folder of each log.
	seen map[string]string
}

func (v *verifier) find(log string, segment, line int64, format string, args ...any) {
	v.report.Findings = append(v.report.Findings, Finding{log, segment, line, fmt.Sprintf(format, args...)})
}

// signed says whether the signature is valid, as far as there is a key.
func (v *verifier) signed(statement, signature string) bool {
	return len(v.keys.private) == 0 || v.keys.signed(statement, signature)
}

// logCheck is the state of the verification of one log.
type logCheck struct {
	*verifier
	name string // as findings call it: the folder, until the log's id is known
	log  string
	head *Head
	// last is the hash of the last line, segment and line its place.
	last          string
	segment, line int64
	// open says that the last segment has no end.
	open bool
	// old says that the program of the last segment did not sign heads.
	old bool
	// broken says that the chain is not followed any further in this segment.
	broken  bool
	headMet bool
}

// log checks the segments of one gateway's log, in their order.
func (v *verifier) log(ctx context.Context, dir string) error {
	all, err := segmentsOf(dir)
	if err != nil {
		return err
	}
	l := &logCheck{verifier: v, name: filepath.Base(dir)}
	if copied, err := l.isCopy(all); err != nil || copied {
		return err
	}
	b, err := readBeginning(dir)
	if err != nil {
		l.find(l.name, 0, 0, "%v", err)
	}
	if len(all) == 0 && b == nil && err == nil {
		return nil // nothing was ever written here
	}
	v.report.Logs++
	next := int64(1)
	if b != nil {
		l.log, l.name = b.Log, b.Log
		if !v.signed(b.statement(), b.Signature) {
			l.find(l.name, 0, 0, "%s has no valid signature: what it says was removed can't be trusted", beginFile)
		}
		l.last, next = b.Prev, b.Segment
	}
	for _, s := range all {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if s.number < next && l.segment == 0 { // a removal that was cut short
			continue
		}
		if s.number != next {
			l.find(l.name, next, 0, "is missing, up to segment %d", s.number-1)
			l.last = "" // nothing is known of what is before
		}
		if l.open {
			l.find(l.name, l.segment, 0, "has no end, and another segment follows it")
		}
		if err := l.check(s); err != nil {
			l.find(l.name, s.number, 0, "can't be read to its end: %v", err)
			l.last, l.open = "", false
		}
		next = s.number + 1
	}
	l.compareHead()
	return nil
}

// isCopy reports a log that another folder has, and says whether this is one.
func (l *logCheck) isCopy(all []segment) (bool, error) {
	log, err := logOf(all)
	if err != nil || log == "" {
		return false, err
	}
	if other := l.seen[log]; other != "" {
		l.find(log, 0, 0, "is in two folders, %s and %s: one of them is a copy; move it away", other, l.name)
		return true, nil
	}
	l.seen[log] = l.name
	return false, nil
}

func (l *logCheck) check(s segment) error {
	text, err := s.read()
	if err != nil && !errors.Is(err, errDamaged) {
		return err
	}
	l.report.Segments++
	l.segment, l.line, l.open, l.broken = s.number, 0, true, false
	for len(text) > 0 {
		raw, rest, whole := nextLine(text)
		if !whole && !s.packed { // it is being written, or a crash has cut it off
			break
		}
		text = rest
		l.line++
		if !l.open {
			l.find(l.name, l.segment, l.line, "follows the end of its segment")
			return nil
		}
		l.checkLine(raw)
	}
	if err == nil && s.packed && l.open {
		l.find(l.name, l.segment, 0, "is closed, and has no end")
	}
	return err
}

// checkLine checks that a line follows the one before it by its bytes, and counts what it records.
func (l *logCheck) checkLine(raw []byte) {
	parsed, err := readLine(raw)
	switch {
	case err != nil:
		l.find(l.name, l.segment, l.line, "can't be read: %v", err)
	case l.line == 1:
		l.begin(&parsed)
	}
	prev, _ := shape(raw)
	if unknown := l.last == "" && l.segment > 1 && l.line == 1; !unknown && string(prev) != l.last {
		l.fail("does not follow the line before it: one of the two was changed, or a line was added, moved or taken away")
	}
	switch {
	case parsed.Record != nil, parsed.Event != nil:
		l.report.Records++
	case parsed.Missing != nil:
		l.missing(parsed.Missing)
	case parsed.Lost != nil:
		l.report.Lost += parsed.Lost.Verdicts
		for account, n := range parsed.Lost.Accounts {
			l.report.LostOf[account] += n
		}
	case parsed.Start != nil && l.line != 1:
		l.fail("begins a segment in the middle of one")
	case parsed.End != nil:
		l.end(parsed.End)
	}
	l.last = hash(raw)
	l.meetHead()
}

// missing tells what a start has not found.
func (l *logCheck) missing(m *missing) {
	if m.Unproved {
		l.find(l.name, m.Segment, m.Line, "a start has found the log up to this line, and no signed word of the store on where it ended: what is before may have been changed")
		return
	}
	l.find(l.name, m.Segment, m.Line, "a start has not found this line, or found another one in its place")
}

// fail tells what is wrong with the line, once for a segment.
func (l *logCheck) fail(format string, args ...any) {
	if !l.broken {
		l.find(l.name, l.segment, l.line, format, args...)
	}
	l.broken = true
}

// begin checks the first line of a segment: it must begin the segment, with the name of the log and the segment's number.
// It finds the head that the store keeps of this log.
func (l *logCheck) begin(first *line) {
	switch {
	case first.Start == nil:
		l.fail("does not begin the segment")
		return
	case l.log == "":
		l.log, l.name = first.Start.Log, first.Start.Log
	case first.Start.Log != l.log:
		l.fail("is of another log, %s", first.Start.Log)
	}
	if first.Start.Segment != l.segment {
		l.fail("begins segment %d, not this one", first.Start.Segment)
	}
	l.old = !first.Start.SignsHeads
	if l.head == nil {
		for i := range l.Heads {
			if l.Heads[i].Log == l.log {
				l.head = &l.Heads[i]
			}
		}
	}
}

func (l *logCheck) end(e *end) {
	l.open = false
	if e.Segment != l.segment || e.Lines != l.line {
		l.fail("ends segment %d after %d lines, and this is line %d of segment %d", e.Segment, e.Lines, l.line, l.segment)
	}
	if !l.signed(e.statement(l.log, l.last), e.Signature) {
		l.fail("has no valid signature")
	}
}

// meetHead compares the line at the head's place.
func (l *logCheck) meetHead() {
	if l.head == nil || l.segment != l.head.Segment || l.line != l.head.Line {
		return
	}
	l.headMet = true
	if l.last != l.head.Hash {
		l.find(l.name, l.segment, l.line, "is not the line that the store knows")
	}
}

// compareHead says what is missing at the end.
func (l *logCheck) compareHead() {
	if h := l.head; h != nil && !l.signed(h.statement(), h.Signature) && (h.Signature != "" || !l.old || l.open) {
		l.find(l.name, 0, 0, "the store's word on where it ends has no valid signature: somebody without a key has written it")
	}
	switch {
	case l.Heads == nil, l.headMet:
	case l.head == nil:
		l.find(l.name, 0, 0, "the store does not know this log")
	default:
		l.find(l.name, l.head.Segment, l.head.Line, "is missing: the store knows that the log went on to this line, and it ends at line %d of segment %d",
			l.line, l.segment)
	}
}
