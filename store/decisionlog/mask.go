package decisionlog

import (
	"context"
	"errors"
	"fmt"

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

// maskedEvent is the record of a verdict from which a mask has removed something. It is the event itself: a mask may
// remove or replace any value, so that no type has what remains.
type maskedEvent struct {
	Event Event `json:"event"`
	// Facts is the number of the line that has the input's account and subject, 0 for none.
	Facts int64 `json:"facts,omitzero"`
	// Here is the subject's part that depends on the question, nil for none; it can be empty.
	Here jsontext.Value `json:"here,omitzero"`
	// Changed says that a credential was removed.
	Changed bool `json:"changed,omitzero"`
}

// addMasked adds the record of a verdict as the mask in force leaves it.
func (w *writer) addMasked(j *resources.Judgement) error {
	e, err := newEvent(w.log, w.o.Version, j, w.o.Input)
	if err != nil {
		return err
	}
	drop, err := e.mask(context.Background(), w.o.Mask)
	if err != nil {
		return err
	}
	if drop {
		w.dropped++
		return nil
	}
	kept := maskedEvent{Event: e}
	if err := w.splitFacts(&kept); err != nil {
		return err
	}
	return w.addEvent(&kept)
}

// addEvent adds a record that is not what was judged, without credentials.
func (w *writer) addEvent(m *maskedEvent) error {
	var c cleaner
	e := &m.Event
	e.Input, e.Result, m.Here = c.value(e.Input), c.value(e.Result), c.value(m.Here)
	e.Erased, e.Masked = c.list(e.Erased), c.list(e.Masked)
	c.texts(&e.MaskError, &e.RequestedBy)
	m.Changed = c.changed
	if w.add(line{Event: m}) != nil {
		return errNotJSON
	}
	return nil
}

// errNotJSON says nothing of what is in the event: a mask could have taken that away.
var errNotJSON = errors.New("the event is not JSON whose texts are UTF-8 and whose objects have each name once")

// mask asks the tree and does what it says.
func (e *Event) mask(ctx context.Context, tree Mask) (drop bool, err error) {
	raw, err := e.JSON()
	if err != nil {
		return false, errNotJSON
	}
	drop, rules, err := tree.Mask(ctx, raw)
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
			return errNotJSON
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
		if value, present := doc[name]; present {
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
	return json.WithUnmarshalers(json.UnmarshalFromFunc(func(dec *jsontext.Decoder, value *any) error {
		if dec.PeekKind() != '0' {
			return errors.ErrUnsupported
		}
		raw, err := dec.ReadValue()
		*value = raw.Clone()
		return err
	}))
}

// splitFacts moves the account and the subject of a masked input to a line of facts. It does nothing to an input without
// both, as that of an app.
func (w *writer) splitFacts(m *maskedEvent) (err error) {
	input := object(m.Event.Input)
	subject := object(input["subject"])
	if input["account"] == nil || subject == nil {
		return nil
	}
	m.Here = subject["here"]
	delete(subject, "here")
	shared := map[string]any{"account": input["account"], "subject": subject}
	delete(input, "account")
	delete(input, "subject")
	raw, err := json.Marshal(shared, json.Deterministic(true))
	if err != nil {
		return err
	}
	if m.Event.Input, err = json.Marshal(input, json.Deterministic(true)); err != nil {
		return err
	}
	m.Facts, err = w.facts.number(facts{Input: raw}, &w.chain)
	return err
}

// whole returns the event with the facts of that line.
func (m *maskedEvent) whole(f *facts) (Event, error) {
	e := m.Event
	if m.Facts == 0 {
		return e, nil
	}
	if f == nil || len(f.Input) == 0 {
		return Event{}, fmt.Errorf("record %s names facts that are not in its segment", e.DecisionID)
	}
	input, shared := object(e.Input), object(f.Input)
	subject := object(shared["subject"])
	if input == nil || subject == nil {
		return Event{}, errForm
	}
	if m.Here != nil {
		subject["here"] = m.Here
	}
	raw, err := json.Marshal(subject, json.Deterministic(true))
	if err != nil {
		return Event{}, err
	}
	input["account"], input["subject"] = shared["account"], raw
	e.Input, err = json.Marshal(input, json.Deterministic(true))
	return e, err
}

// object returns the members of a JSON object, nil for any other value.
func object(raw jsontext.Value) (members map[string]jsontext.Value) {
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return members
}
