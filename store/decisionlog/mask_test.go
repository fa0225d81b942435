package decisionlog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

// mask is a policy tree's.
type mask struct {
	drop  bool
	rules string
	err   error
}

func (m *mask) Masks() bool { return true }

func (m *mask) Mask(context.Context, []byte) (bool, []byte, error) {
	if m.rules == "" {
		m.rules = "[]"
	}
	return m.drop, []byte(m.rules), m.err
}

// masked records seven verdicts under a mask, and returns the first event and all that is on disk.
func masked(t *testing.T, m *mask) (events []map[string]any, disk []byte) {
	t.Helper()
	w, dropped := newWorld(t), uint64(0)
	w.change = func(o *decisionlog.Options) { o.Mask = m }
	l := w.open(t)
	record(t, l, 0, 7)
	record(t, l, 0, 7)
	must.Do(t, l.Close())
	w.wantWhole(t, -1)
	count := func(m decisionlog.Missing) { dropped += m.Dropped }
	must.Do(t, decisionlog.Reader{Dir: w.dir, Missing: count}.Oldest(t.Context(), decisionlog.Filter{}, func(r *decisionlog.Record) error {
		if r.Judgement() != nil {
			t.Error("a masked record is given as what was judged")
		}
		e := r.Event(input)
		raw := must.Get(e.JSON())(t)
		var event map[string]any
		must.Do(t, json.Unmarshal(raw, &event))
		events = append(events, event)
		return nil
	}))
	if len(events)+int(dropped) != 14 {
		t.Errorf("%d events and %d that were dropped", len(events), dropped)
	}
	if written := l.Stats().Written; int(written) != len(events) {
		t.Errorf("%d events, and %d by the metric", len(events), written)
	}
	return events, w.read(t, "000000000001.log")
}

// TestWhatIsMaskedIsNeverOnDisk, neither in a record nor in its facts, and the rest is.
func TestWhatIsMaskedIsNeverOnDisk(t *testing.T) {
	events, disk := masked(t, &mask{rules: `["/input/subject/id", {"op": "upsert", "path": "/input/target/rest", "value": "***"}, "/result/reason", "/input/nothing/here"]`})
	if len(events) != 14 || bytes.Contains(disk, []byte("user-")) || bytes.Contains(disk, []byte("instances/i-3\"}")) || bytes.Contains(disk, []byte("no role")) {
		t.Fatalf("%d events, %s", len(events), disk)
	}
	input := events[3]["input"].(map[string]any)
	if input["target"].(map[string]any)["rest"] != "***" || input["subject"].(map[string]any)["status"] != "ACTIVE" || input["action"].(map[string]any)["id"] == "" {
		t.Errorf("%v", events[3])
	}
	if got, _ := json.Marshal([]any{events[3]["erased"], events[3]["masked"]}); string(got) != `[["/input/subject/id","/result/reason"],["/input/target/rest"]]` {
		t.Errorf("%s", got)
	}
	if n := bytes.Count(disk, []byte(`"facts":{`)); n != 1 {
		t.Errorf("%d lines of facts that are all the same", n)
	}
}

// TestDroppedRecordsAreNotThere, and the log counts them.
func TestDroppedRecordsAreNotThere(t *testing.T) {
	events, disk := masked(t, &mask{drop: true})
	if len(events) != 0 || bytes.Contains(disk, []byte("user-")) || bytes.Contains(disk, []byte("instances")) {
		t.Errorf("%v, %s", events, disk)
	}
}

// TestAMaskThatFailsErasesTheInput guarantees that the input is erased after each kind of failure of the mask.
func TestAMaskThatFailsErasesTheInput(t *testing.T) {
	for name, m := range map[string]*mask{
		"fails": {err: errors.New("a rule fails")}, "no path": {rules: `["input/x"]`}, "another part": {rules: `["/labels/app"]`},
		"a number": {rules: `[1]`}, "an op": {rules: `[{"op": "add", "path": "/input/x"}]`}, "no op": {rules: `[{"path": "/input/x"}]`},
		"no JSON": {rules: `[`}, "a path without an end": {rules: `[{"op": "upsert", "path": "/input` + strings.Repeat("/a", 1000) + `"}]`},
	} {
		events, disk := masked(t, m)
		if len(events) != 14 || bytes.Contains(disk, []byte("user-")) || bytes.Contains(disk, []byte("instances")) || bytes.Contains(disk, []byte("no role")) {
			t.Fatalf("%s: %s", name, disk)
		}
		e := events[0]
		if e["input"] != nil || e["mask_error"] == "" || e["result"].(map[string]any)["allow"] != true || e["erased"].([]any)[0] != "/input" {
			t.Errorf("%s: %v", name, e)
		}
	}
}

// TestNoCredentialIsEverRecorded, wherever a client sends it, and the record is not taken for what was
// judged.
func TestNoCredentialIsEverRecorded(t *testing.T) {
	secret := "pcl_" + "sk_live_" + strings.Repeat("a1", 20)
	for _, m := range []*mask{nil, {}} {
		w := newWorld(t)
		if m != nil {
			w.change = func(o *decisionlog.Options) { o.Mask = m }
		}
		l := w.open(t)
		for _, change := range []func(j *resources.Judgement){
			func(j *resources.Judgement) { j.Question.Target.Rest = "instances/" + secret },
			func(j *resources.Judgement) { j.Question.AccountID = secret },
			func(j *resources.Judgement) { j.Question.Principal.ID = secret },
			func(j *resources.Judgement) { j.Decision.Reason = "no " + secret },
			func(j *resources.Judgement) {
				j.Question.App = &resources.Entities{Context: []byte(`{"token":"Bearer ` + secret + `"}`)}
			},
			func(j *resources.Judgement) {
				s := j.Question.Facts.Subject.Clone()
				s.UserID = secret
				j.Question.Facts.Subject = s
			},
		} {
			j := judgement(t, 0)
			change(j)
			must.Do(t, l.Record(t.Context(), j))
		}
		must.Do(t, l.Close())
		if text := w.read(t, "000000000001.log"); bytes.Contains(text, []byte(secret[12:])) {
			t.Errorf("%s", text)
		}
		changed := 0
		must.Do(t, decisionlog.Reader{Dir: w.dir}.Oldest(t.Context(), decisionlog.Filter{}, func(r *decisionlog.Record) error {
			if r.Judgement() != nil {
				t.Error("a changed record is given as what was judged")
			}
			e := r.Event(input)
			if parts := e.LeftOut(decisionlog.PartInput); len(parts) == 1 && len(parts[0]) == 0 {
				changed++
			}
			return nil
		}))
		if changed < 4 { // the stand-in has no app in its input, and the reason is none
			t.Errorf("%d records say that their input was changed", changed)
		}
		w.wantWhole(t, 6)
	}
}

// TestACredentialInAMaskedPathIsRemoved guarantees that the path of a mask has no credential on disk. Rules can make paths
// from the event.
func TestACredentialInAMaskedPathIsRemoved(t *testing.T) {
	secret := keyOf("")
	_, disk := masked(t, &mask{rules: `[{"op": "upsert", "path": "/input/` + secret + `", "value": 1}, "/input/` + secret + `"]`})
	if bytes.Contains(disk, []byte(secret[12:])) || !bytes.Contains(disk, []byte(`"masked":[`)) || !bytes.Contains(disk, []byte(`"erased":[`)) {
		t.Errorf("%s", disk)
	}
}

// TestAMaskKeepsEmptyParts guarantees that empty parts stay in a masked record: rules read an empty list and a missing one
// differently.
func TestAMaskKeepsEmptyParts(t *testing.T) {
	for _, held := range []string{`[]`, `{}`, `""`, `null`, `[{"role":"r"}]`} {
		w := newWorld(t)
		w.change = func(o *decisionlog.Options) {
			o.Mask = &mask{rules: `["/input/target/rest"]`}
			o.Input = func(*resources.Judgement) ([]byte, error) {
				return []byte(`{"account":{"id":"a"},"subject":{"here":` + held + `,"id":"u"},"target":{"rest":"x"}}`), nil
			}
		}
		l := w.open(t)
		record(t, l, 0, 1)
		must.Do(t, l.Close())
		w.wantWhole(t, 1)
		must.Do(t, decisionlog.Reader{Dir: w.dir}.Oldest(t.Context(), decisionlog.Filter{}, func(r *decisionlog.Record) error {
			e := r.Event(input)
			if want := `{"account":{"id":"a"},"subject":{"here":` + held + `,"id":"u"},"target":{}}`; string(e.Input) != want {
				t.Errorf("%s, want %s", e.Input, want)
			}
			return nil
		}))
	}
}
