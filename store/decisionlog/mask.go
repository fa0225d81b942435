package decisionlog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/portcullis-authz/portcullis/resources"
)

// Mask is what the policy tree says about records: data.system.log.mask and data.system.log.drop
// (policies/engine).
type Mask interface {
	// Masks says whether the tree says anything.
	Masks() bool
	// Mask returns whether to drop the record of this event, and the members of the mask: each is a
	// path, or an object of op, path and value. An error says nothing of the event.
	Mask(ctx context.Context, event []byte) (drop bool, rules []byte, err error)
}

// maskedEvent is a record that was masked.
type maskedEvent struct {
	Event Event `json:"event"`
	// Facts is the number of the line that has the input's account and subject, 0 for none.
	Facts int64 `json:"facts,omitzero"`
	// Here is the subject's part that depends on the question.
	Here jsontext.Value `json:"here,omitempty"`
	// Changed says that a credential was taken out.
	Changed bool `json:"changed,omitzero"`
}

// addMasked adds the record of a verdict of which the tree in force may want parts to be left out.
func (w *writer) addMasked(ctx context.Context, j *resources.Judgement) error {
	drop, e := w.masked(ctx, j)
	if drop {
		w.dropped++
		return nil
	}
	kept := maskedEvent{Event: e}
	if len(e.Input) > 0 {
		w.splitFacts(&kept)
	}
	raw, err := json.Marshal(&kept, json.Deterministic(true))
	if err != nil {
		return err
	}
	text := resources.MaskCredentials(string(raw))
	if text != string(raw) {
		text = strings.TrimSuffix(text, "}") + `,"changed":true}`
	}
	w.begin("event")
	w.buf = append(w.buf, text...)
	w.end()
	return nil
}

// masked returns the event as the tree wants it recorded. If that can't be found out, the event has
// no input, and of the result only whether it allows.
func (w *writer) masked(ctx context.Context, j *resources.Judgement) (drop bool, e Event) {
	e, err := newEvent(w.log, w.o.Version, j, w.o.Input)
	if err == nil {
		if drop, err = e.mask(ctx, w.o.Mask); err == nil {
			return drop, e
		}
	}
	return false, Event{
		Labels: labels(w.log, w.o.Version, j), DecisionID: j.ID, ParentID: j.ParentID, Path: j.Path,
		Result: result(&resources.Judgement{App: j.App, Decision: resources.Decision{Allowed: j.Decision.Allowed}}),
		Erased: []string{"/input"}, MaskError: resources.MaskCredentials(err.Error()), Timestamp: j.Question.Now.String(),
	}
}

// mask asks the tree and does what it says.
func (e *Event) mask(ctx context.Context, by Mask) (drop bool, err error) {
	raw, err := e.JSON()
	if err != nil {
		return false, err
	}
	drop, rules, err := by.Mask(ctx, raw)
	if err != nil || drop {
		return drop, err
	}
	var all []jsontext.Value
	if err := json.Unmarshal(rules, &all); err != nil {
		return false, err
	}
	if len(all) == 0 {
		return false, nil
	}
	return false, e.apply(all)
}

// apply does what the members of a mask say, in their order.
func (e *Event) apply(all []jsontext.Value) error {
	doc := map[string]any{}
	for name, part := range map[string]jsontext.Value{PartInput: e.Input, PartResult: e.Result} {
		var value any
		if err := json.Unmarshal(part, &value, numbersAsText()); err != nil {
			return err
		}
		doc[name] = value
	}
	for _, raw := range all {
		rule, err := readMaskRule(raw)
		if err != nil {
			return err
		}
		switch {
		case !rule.apply(doc):
		case rule.Op == opUpsert:
			e.Masked = append(e.Masked, rule.Path)
		default:
			e.Erased = append(e.Erased, rule.Path)
		}
	}
	for name, part := range map[string]*jsontext.Value{PartInput: &e.Input, PartResult: &e.Result} {
		*part = nil
		if value, there := doc[name]; there {
			raw, err := json.Marshal(value, json.Deterministic(true))
			if err != nil {
				return err
			}
			*part = raw
		}
	}
	return nil
}

// numbersAsText keeps the digits of numbers.
func numbersAsText() json.Options {
	return json.WithUnmarshalers(json.UnmarshalFromFunc(func(dec *jsontext.Decoder, to *any) error {
		if dec.PeekKind() != '0' {
			return errors.ErrUnsupported
		}
		raw, err := dec.ReadValue()
		*to = raw.Clone()
		return err
	}))
}

// splitFacts has the account and the subject of a masked input written once.
func (w *writer) splitFacts(kept *maskedEvent) {
	var in map[string]jsontext.Value
	if json.Unmarshal(kept.Event.Input, &in) != nil || in["subject"] == nil || in["account"] == nil {
		return // an app's, or masked so that there is nothing to share
	}
	var subject map[string]jsontext.Value
	if json.Unmarshal(in["subject"], &subject) != nil || subject == nil {
		return
	}
	here := subject["here"]
	delete(subject, "here")
	own, err := json.Marshal(subject, json.Deterministic(true))
	if err != nil {
		return
	}
	shared, err := json.Marshal(map[string]jsontext.Value{"account": in["account"], "subject": own}, json.Deterministic(true))
	if err != nil {
		return
	}
	delete(in, "account")
	delete(in, "subject")
	rest, err := json.Marshal(in, json.Deterministic(true))
	if err != nil {
		return
	}
	kept.Event.Input, kept.Here = rest, here
	kept.Facts = w.facts.number(shared, "input", &w.chain)
}

// whole returns the event with the facts of that line.
func (m *maskedEvent) whole(of *facts) (Event, error) {
	e := m.Event
	if m.Facts == 0 {
		return e, nil
	}
	if of == nil || len(of.Input) == 0 {
		return Event{}, fmt.Errorf("record %s names facts that are not in its segment", e.DecisionID)
	}
	var in, shared, subject map[string]jsontext.Value
	if err := errors.Join(json.Unmarshal(e.Input, &in), json.Unmarshal(of.Input, &shared), json.Unmarshal(shared["subject"], &subject)); err != nil {
		return Event{}, err
	}
	if m.Here != nil {
		subject["here"] = m.Here
	}
	own, err := json.Marshal(subject, json.Deterministic(true))
	if err != nil {
		return Event{}, err
	}
	in["account"], in["subject"] = shared["account"], own
	e.Input, err = json.Marshal(in, json.Deterministic(true))
	return e, err
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
