package decisionlog

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/durable"
)

// Sizes of a segment in bytes.
const (
	leastSegment   = 64 << 10
	largestSegment = 32 << 20
	// segmentsPerLog is which part of the log's size one segment is at most.
	segmentsPerLog = 16
	// dayOfSegment is how long a segment is written to at most.
	dayOfSegment = 24 * time.Hour
)

// warnEvery is how often the process's log says that decisions are missing.
const warnEvery = 10 * time.Second

// writer writes the segments. It belongs to one goroutine.
type writer struct {
	*Log
	log  string   // the log's id
	file *os.File // nil where a segment has still to be begun
	// made is the file as it was made.
	made os.FileInfo
	chain
	number int64
	began  time.Time
	facts  *factsTable
	// size is the length of the file as far as it is whole; dirty says that the disk may have less.
	size  int64
	dirty bool
	// missing is what mending has not found.
	missing *missing
	// noted counts the missing verdicts of the log's lines, warned those of the process's log.
	noted, warned lossCount
	// warnedAt is the time of the newest line about them in the process's log.
	warnedAt time.Time
	// dropped is how many verdicts of the group the policy tree has dropped.
	dropped uint64
	// failing says that the last write failed.
	failing bool
	// packing is held by the goroutine that compresses. It alone uses ends, the ends of closed segments by their numbers.
	packing chan struct{}
	ends    map[int64]ended
}

// newWriter mends the log and opens a segment.
func (l *Log) newWriter(ctx context.Context) (*writer, error) {
	w := &writer{Log: l, packing: make(chan struct{}, 1), ends: map[int64]ended{}}
	if err := w.mend(ctx); err != nil {
		return nil, err
	}
	if w.log == "" {
		w.log = rand.Text()
	}
	if err := w.open(); err != nil || w.missing == nil {
		return w, err
	}
	if err := w.add(line{Missing: w.missing}); err != nil {
		return nil, err
	}
	if err := w.flush(); err != nil {
		return nil, err
	}
	w.settle()
	return w, nil
}

// open begins the next segment.
func (w *writer) open() error {
	path := segmentPath(w.dir, w.number+1, openSuffix)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	before, now := w.chainEnd, w.o.Now()
	w.buf.Reset()
	w.lines = 0
	err = w.add(line{Start: &start{
		Segment: w.number + 1, Log: w.log, Form: form, Version: w.o.Version, At: resources.At(now).String(), SignsHeads: true,
	}})
	size := int64(w.buf.Len())
	if err == nil {
		if _, err = w.buf.WriteTo(f); err == nil {
			err = errors.Join(f.Sync(), durable.SyncDir(w.dir))
		}
	}
	if err == nil {
		w.made, err = f.Stat()
	}
	if err != nil {
		w.chainEnd = before
		return errors.Join(err, f.Close(), os.Remove(path))
	}
	w.file, w.number, w.began, w.size, w.facts = f, w.number+1, now, size, newFactsTable(0)
	w.onDisk()
	return nil
}

// onDisk notes that everything written is on disk.
func (w *writer) onDisk() {
	w.dirty = false
	w.head.Store(&Head{Log: w.log, Segment: w.number, Line: w.lines, Hash: w.last})
	w.stats.position.Store(&position{Segment: w.number, Offset: w.size})
}

// run writes until the log is closed and nothing waits.
func (w *writer) run() {
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for {
		select {
		case <-w.wake:
		case <-tick.C:
			w.settle()
			continue
		case <-w.ending:
			for w.writeNext() {
			}
			w.settle()
			w.warnOfLosses(0)
			w.close()
			return
		}
		if more := w.writeNext(); more {
			signal(w.wake)
		} else if !w.o.Required {
			w.gather()
		}
	}
}

// gather waits for more verdicts.
func (w *writer) gather() {
	select {
	case <-w.full:
	case <-w.ending:
	case <-time.After(gatherTime):
	}
}

// writeNext writes what is next, and reports whether more waits.
func (w *writer) writeNext() (more bool) {
	all, more := w.take()
	if len(all) == 0 {
		return more
	}
	err := w.write(all)
	for _, e := range all {
		e.finish(err)
	}
	return more
}

// write writes verdicts, and with Required waits for the disk. On an error the segment is as it was before.
func (w *writer) write(all []*entry) error {
	w.dropped = 0
	if err := w.tryWrite(all); err != nil {
		w.stats.failures.Add(1)
		w.mu.Lock()
		for _, e := range all {
			w.lose(e)
		}
		w.mu.Unlock()
		if !w.failing {
			w.failing = true
			w.o.Log.Error("decisions can't be recorded", "error", err.Error(), "required", w.o.Required)
		}
		return err
	}
	n := uint64(0)
	for _, e := range all {
		n += uint64(len(e.judgements))
	}
	w.stats.written.Add(n - w.dropped)
	if w.failing {
		w.failing = false
		w.o.Log.Info("decisions are recorded again")
	}
	return nil
}

// tryWrite is write without the counters.
func (w *writer) tryWrite(all []*entry) (err error) {
	if err := w.roll(); err != nil {
		return err
	}
	before := w.chainEnd
	w.buf.Reset()
	missing := w.losses()
	if err = w.addLost(missing); err == nil {
		err = w.addAll(all)
	}
	if err == nil {
		err = w.flush()
	}
	if err != nil {
		return errors.Join(err, w.takeBack(before))
	}
	w.noted = missing
	w.watches.wrote(w.log, position{w.number, w.size}, all)
	return nil
}

// addAll adds verdicts, and how many of them the policy tree has dropped.
func (w *writer) addAll(all []*entry) error {
	for _, e := range all {
		for _, j := range e.judgements {
			if err := w.addVerdict(j); err != nil {
				return err
			}
		}
	}
	if w.dropped == 0 {
		return nil
	}
	return w.add(line{Dropped: &lost{Verdicts: w.dropped, At: resources.At(w.o.Now()).String()}})
}

// addLost adds how many verdicts are not in the log since it said so last, of those that are missing in all.
func (w *writer) addLost(missing lossCount) error {
	if missing.all == w.noted.all {
		return nil
	}
	newly := missing.since(w.noted)
	return w.add(line{Lost: &lost{Verdicts: newly.all, At: resources.At(w.o.Now()).String(), Accounts: newly.accounts.clean()}})
}

// warnOfLosses logs how many verdicts are missing since its last line, once in that time.
func (w *writer) warnOfLosses(every time.Duration) {
	now := w.o.Now()
	if w.stats.lost.Load() == w.warned.all || now.Sub(w.warnedAt) < every {
		return
	}
	missing := w.losses()
	newly := missing.since(w.warned)
	w.o.Log.Warn("decisions are missing in the decision log: they came faster than they could be written, or the disk failed",
		"decisions", newly.all, "accounts", newly.accounts.String())
	w.warned, w.warnedAt = missing, now
}

// addVerdict adds the record of a verdict. One that can't be recorded as it is has its input erased.
func (w *writer) addVerdict(j *resources.Judgement) error {
	add := w.addWhole
	if w.o.Mask != nil && w.o.Mask.Masks() {
		add = w.addMasked
	}
	if err := add(j); err != nil {
		return w.addEvent(&maskedEvent{Event: erasedEvent(w.log, w.o.Version, j, err)})
	}
	return nil
}

// addWhole adds a verdict whole.
func (w *writer) addWhole(j *resources.Judgement) error {
	n, err := w.facts.subject(j.Question.Facts.Subject, &w.chain)
	if err != nil {
		return err
	}
	w.record = newRecord(j, n)
	return w.add(line{Record: &w.record})
}

// flush writes the lines that were added.
func (w *writer) flush() error {
	n, err := w.buf.WriteTo(w.file)
	if err != nil {
		return err
	}
	w.dirty = true
	if w.o.Required {
		if err := w.file.Sync(); err != nil {
			return err
		}
		if err := w.present(); err != nil {
			return err
		}
	}
	w.size += n
	if w.o.Required {
		w.onDisk()
	}
	return nil
}

// takeBack removes what was written behind that end.
func (w *writer) takeBack(before chainEnd) error {
	w.chainEnd, w.facts = before, newFactsTable(w.facts.last) // which of its facts are in the file is not known

	if w.file == nil { // the segment is gone
		return nil
	}
	if err := w.file.Truncate(w.size); err != nil {
		return err
	}
	_, err := w.file.Seek(w.size, 0)
	return err
}

// settle writes what is missing, flushes what was written to the disk, and ends a segment that is old.
func (w *writer) settle() {
	w.warnOfLosses(warnEvery)
	if missing := w.stats.lost.Load(); missing != w.noted.all && w.file != nil {
		_ = w.write(nil) // which counts and logs a failure
	}
	if w.file != nil {
		if err := w.present(); errors.Is(err, errGone) {
			w.stats.failures.Add(1)
			w.o.Log.Error("decisions are missing in the decision log", "error", err.Error())
		}
	}
	if w.dirty {
		if err := w.file.Sync(); err != nil {
			w.o.Log.Error("decisions can't be flushed to the disk", "error", err.Error())
			return
		}
		w.onDisk()
	}
	if err := w.roll(); err != nil && !w.failing {
		w.failing = true
		w.o.Log.Error("the decision log can't begin a new segment", "error", err.Error())
	}
}

// roll ends the segment where it is large or old, and begins the next one.
func (w *writer) roll() error {
	most := min(max(w.o.Size/segmentsPerLog, leastSegment), largestSegment)
	old := w.o.Now().Sub(w.began) > min(w.o.Age/segmentsPerLog, dayOfSegment)
	switch {
	case w.file == nil:
	case old && w.lines == 1: // nothing is in it
		w.began = w.o.Now()
		w.background.Go(w.packAll)
		return nil
	case w.size < most && !old:
		return nil
	}
	if w.file != nil {
		if err := w.shut(0); err != nil {
			return err
		}
	}
	if err := w.open(); err != nil {
		return err
	}
	w.background.Go(w.packAll)
	return nil
}

// shut signs the segment and closes it.
func (w *writer) shut(cut int64) error {
	before := w.chainEnd
	w.buf.Reset()
	e := end{Segment: w.number, Lines: w.lines + 1, At: resources.At(w.o.Now()).String(), Cut: cut}
	e.Signature = w.keys.sign(e.statement(w.log, w.last))
	err := w.add(line{End: &e})
	if err != nil {
		return err
	}
	n, err := w.buf.WriteTo(w.file)
	if err == nil {
		err = w.file.Sync()
	}
	if err != nil {
		return errors.Join(err, w.takeBack(before))
	}
	w.size += n
	w.onDisk()
	err = w.file.Close()
	w.file = nil
	return err
}

// close ends the last segment.
func (w *writer) close() {
	if w.file == nil {
		return
	}
	if err := w.shut(0); err != nil {
		w.o.Log.Error("the decision log could not be closed; the next start mends it", "error", err.Error())
	}
}
