package decisionlog_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

// BenchmarkRecord is what a verdict costs where nobody waits, to its line on disk and its part of a
// compressed segment.
func BenchmarkRecord(b *testing.B) {
	w := newWorld(b)
	w.change = func(o *decisionlog.Options) { o.Required = false }
	l := w.open(b)
	all := make([]*resources.Judgement, 1000)
	for n := range all {
		all[n] = judgement(b, n)
	}
	subjects := [7]*resources.Subject{}
	for n := range subjects {
		subjects[n] = subject(n)
	}
	for n, j := range all {
		j.Question.Facts.Subject, j.Question.Route = subjects[n%7], all[0].Question.Route
	}
	b.ReportAllocs()
	for n := range b.N {
		if n%1000 == 0 {
			for l.Stats().Waiting > 8000 {
				runtime.Gosched()
			}
		}
		_ = l.Record(b.Context(), all[n%1000])
	}
	must.Do(b, l.Close())
	if s := l.Stats(); s.Lost > 0 {
		b.Logf("%d lost", s.Lost)
	}
}

// BenchmarkPageOfACompressedSegment is the cost of a page of ten records at the end of a compressed segment of 10,000. Pages
// that follow decisions read it when a new segment has begun.
func BenchmarkPageOfACompressedSegment(b *testing.B) {
	w := newWorld(b)
	w.change = func(o *decisionlog.Options) { o.Size = 1 << 30 }
	l := w.open(b)
	recordMany(b, l, 10_000)
	must.Do(b, l.Close())
	must.Do(b, w.open(b).Close()) // compresses it
	search := decisionlog.Search{Size: 10, Deadline: time.Now().Add(time.Hour)}
	b.ReportAllocs()
	for b.Loop() {
		page, err := decisionlog.Reader{Dir: w.dir}.Before(b.Context(), search, nil)
		if err != nil || len(page.Records) != search.Size {
			b.Fatalf("%d records, %v", len(page.Records), err)
		}
	}
}
