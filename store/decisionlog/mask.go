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

// addErased adds the record of a verdict without its input, and of the result only whether it allows.
func (w *writer) addErased(j *resources.Judgement, why error) error {
	return w.addEvent(&maskedEvent{Event: erased(w.log, w.o.Version, j, why)})
}

// erased returns a verdict without its input, and of the result only whether it allows.
func erased(log, version string, j *resources.Judgement, why error) Event {
	return Event{
		Labels: labels(log, version, j), DecisionID: j.ID, ParentID: j.ParentID, Path: j.Path,
		Result: result(&resources.Judgement{Question: resources.Question{App: j.Question.App}, Decision: resources.Decision{Allowed: j.Decision.Allowed}}),
		Erased: []string{"/" + PartInput}, MaskError: strings.ToValidUTF8(why.Error(), "\ufffd"), Timestamp: j.Question.Now.String(),
	}
}

// addEvent adds a record that is not what was judged.
func (w *writer) addEvent(e *maskedEvent) error {
	raw, err := e.Event.JSON()
	if err != nil {
		return errNotJSON
	}
	w.begin("event")
	o := object{buf: append(w.buf, '{'), first: true}
	o.raw("event", raw)
	o.number("facts", e.Facts)
	o.raw("here", e.Here)
	o.flag("changed", o.changed)
	w.buf = append(o.buf, '}')
	return w.end(readable)
}

// errNotJSON says nothing of what is in the event: a mask could have taken that away.
var errNotJSON = errors.New("the event is not JSON whose texts are UTF-8 and whose objects have each name once")

// mask asks the tree and does what it says.
func (e *Event) mask(ctx context.Context, by Mask) (drop bool, err error) {
	raw, err := e.JSON()
	if err != nil {
		return false, errNotJSON
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

// splitFacts has the account and the subject of a masked input written once. It leaves an input alone that has none: an
// app's, or one of which they were masked.
func (w *writer) splitFacts(kept *maskedEvent) error {
	var in, subject map[string]jsontext.Value
	if json.Unmarshal(kept.Event.Input, &in) != nil || in["account"] == nil || json.Unmarshal(in["subject"], &subject) != nil || subject == nil {
		return nil //nolint:nilerr // left as it is
	}
	here := subject["here"]
	delete(subject, "here")
	own, err := json.Marshal(subject, json.Deterministic(true))
	if err != nil {
		return err
	}
	shared, err := json.Marshal(map[string]jsontext.Value{"account": in["account"], "subject": own}, json.Deterministic(true))
	if err != nil {
		return err
	}
	delete(in, "account")
	delete(in, "subject")
	if kept.Event.Input, err = json.Marshal(in, json.Deterministic(true)); err != nil {
		return err
	}
	kept.Here = here
	kept.Facts, err = w.facts.number(shared, "input", &w.chain)
	return err
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
