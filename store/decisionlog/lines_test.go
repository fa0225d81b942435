package decisionlog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

// keyOf is an API key that ends in these characters.
func keyOf(end string) string { return "pcl_" + "sk_live_" + strings.Repeat("a1", 20) + end }

// askedApp is a question about an app's resource, with its context and what the app says.
func askedApp(t testing.TB, context string, said ...resources.Member) *resources.Judgement {
	t.Helper()
	j := judgement(t, 0)
	j.Path, j.Context = resources.PathApps+"docs/decision", said
	j.Question.App = &resources.Entities{
		ResourceType: "doc", Subject: []byte(`{"id":"u"}`), Action: []byte(`{"name":"read"}`), Resource: []byte(`{"type":"doc"}`), Context: []byte(context),
	}
	return j
}

// appInput is a stand-in for policy's input about an app.
func appInput(j *resources.Judgement) ([]byte, error) {
	if j.Question.App == nil {
		return input(j)
	}
	return json.Marshal(map[string]json.RawMessage{
		"subject": json.RawMessage(j.Question.App.Subject), "resource": json.RawMessage(j.Question.App.Resource), "context": json.RawMessage(j.Question.App.Context),
	})
}

// TestNamesWithCredentialsStayApart guarantees a readable line for an object with credentials in two names. The line has
// neither of them, and all values.
func TestNamesWithCredentialsStayApart(t *testing.T) {
	two := `{"masked-1":"zero","` + keyOf("01") + `":"one","` + keyOf("02") + `":{"masked-1":"two","` + keyOf("03") + `":["three","` + keyOf("04") + `"]}}`
	said := []resources.Member{{Name: keyOf("05"), Value: []byte(`"four"`)}, {Name: keyOf("06"), Value: []byte(two)}}
	for name, m := range map[string]*mask{"without a mask": nil, "with a mask": {}} {
		w := newWorld(t)
		w.change = func(o *decisionlog.Options) {
			o.Input = appInput
			if m != nil {
				o.Mask = m
			}
		}
		l := w.open(t)
		must.Do(t, l.Record(t.Context(), judgement(t, 1), askedApp(t, two, said...), judgement(t, 2)))
		must.Do(t, l.Close())
		w.wantWhole(t, 3)
		text := w.read(t, "000000000001.log")
		if bytes.Contains(text, []byte(strings.Repeat("a1", 20))) {
			t.Errorf("%s: %s", name, text)
		}
		for _, value := range []string{"zero", "one", "two", "three", "four"} {
			if !bytes.Contains(text, []byte(value)) {
				t.Errorf("%s: no %s in %s", name, value, text)
			}
		}
		if got := w.ids(t); !slices.Equal(got, []string{"id-000001", "id-000000", "id-000002"}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestACredentialInEscapesIsMasked guarantees that a credential is found in the text and not in its spelling.
func TestACredentialInEscapesIsMasked(t *testing.T) {
	w := newWorld(t)
	w.change = func(o *decisionlog.Options) { o.Input = appInput }
	l := w.open(t)
	must.Do(t, l.Record(t.Context(), askedApp(t, `{"\u0070cl_sk_live_`+strings.Repeat("b2", 20)+`":"Be\u0061rer `+strings.Repeat("c3", 20)+`"}`)))
	must.Do(t, l.Close())
	if text := w.read(t, "000000000001.log"); bytes.Contains(text, []byte(strings.Repeat("b2", 20))) || bytes.Contains(text, []byte(strings.Repeat("c3", 20))) {
		t.Errorf("%s", text)
	}
	w.wantWhole(t, 1)
}

// TestWhatIsNoStrictJSONIsReadBack guarantees a readable line for a client's repeated names, bytes outside UTF-8 and half
// a pair of surrogates. The record does not count as the judged question.
func TestWhatIsNoStrictJSONIsReadBack(t *testing.T) {
	for _, context := range []string{
		`{"a":1,"a":2}`, `{"a":{"b":1,"\u0062":2}}`, "{\"a\":\"\xff\"}", "{\"a\xff\":1,\"a\ufffd\":2}", `{"a":"\ud800"}`, `{"\udc00":1,"\udc01":2}`, `{"a":1}{}`, `{`,
		strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999),
	} {
		w := newWorld(t)
		l := w.open(t)
		must.Do(t, l.Record(t.Context(), judgement(t, 1), askedApp(t, context), judgement(t, 2)))
		must.Do(t, l.Close())
		w.wantWhole(t, 3)
		must.Do(t, decisionlog.Reader{Dir: w.dir}.Oldest(t.Context(), decisionlog.Filter{ID: "id-000000"}, func(r *decisionlog.Record) error {
			if r.Judgement() != nil {
				t.Errorf("%.40q is given as what was judged", context)
			}
			return nil
		}))
	}
}

// TestOneBadRecordCostsNoOther: a verdict whose input can't be made is recorded without it, and those beside it whole.
func TestOneBadRecordCostsNoOther(t *testing.T) {
	w := newWorld(t)
	w.change = func(o *decisionlog.Options) {
		o.Mask = &mask{}
		o.Input = func(j *resources.Judgement) ([]byte, error) {
			if j.ID == "id-000001" {
				return nil, errors.New("no input of \xff")
			}
			return input(j)
		}
	}
	l := w.open(t)
	must.Do(t, l.Record(t.Context(), judgement(t, 0), judgement(t, 1), judgement(t, 2)))
	must.Do(t, l.Close())
	var erased []string
	must.Do(t, decisionlog.Reader{Dir: w.dir}.Oldest(t.Context(), decisionlog.Filter{}, func(r *decisionlog.Record) error {
		e := r.Event(input)
		if e.MaskError != "" && e.Input == nil {
			erased = append(erased, e.DecisionID)
		}
		return nil
	}))
	if !slices.Equal(erased, []string{"id-000001"}) {
		t.Errorf("without input are %v", erased)
	}
	w.wantWhole(t, 3)
}

// TestAnInputThatCannotBeMadeIsOneGap: readers give the record without it, and all others whole.
func TestAnInputThatCannotBeMadeIsOneGap(t *testing.T) {
	w := newWorld(t)
	l := w.open(t)
	record(t, l, 0, 3)
	must.Do(t, l.Close())
	for name, made := range map[string]struct {
		input []byte
		err   error
	}{"fails": {nil, errors.New("no input of \xff")}, "no JSON": {[]byte(`{"a":1,"a":2}`), nil}} {
		var whole, bare []string
		must.Do(t, decisionlog.Reader{Dir: w.dir}.Oldest(t.Context(), decisionlog.Filter{}, func(r *decisionlog.Record) error {
			e := r.Event(func(j *resources.Judgement) ([]byte, error) {
				if j.ID == "id-000001" {
					return made.input, made.err
				}
				return input(j)
			})
			if _, err := e.JSON(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if e.Input == nil && e.MaskError != "" && len(e.LeftOut(decisionlog.PartInput)) == 1 {
				bare = append(bare, e.DecisionID)
			} else {
				whole = append(whole, e.DecisionID)
			}
			return nil
		}))
		if !slices.Equal(whole, []string{"id-000000", "id-000002"}) || !slices.Equal(bare, []string{"id-000001"}) {
			t.Errorf("%s: whole are %v, bare an input %v", name, whole, bare)
		}
	}
}

// FuzzEveryLineIsRead guarantees readable lines for everything that callers send. Each verdict has its record, and no
// record has a credential.
func FuzzEveryLineIsRead(f *testing.F) {
	secret := strings.Repeat("a1", 20)
	for _, seed := range []string{
		`{"a":1}`, `{"` + keyOf("1") + `":1,"` + keyOf("2") + `":2}`, `{"a":1,"a":2}`, "\xff", `"\ud800"`, `{"a":"Bearer x"}`, "", "[", `{"masked-1":1}`, "instances/i-1", "\u2028\x00\"",
	} {
		f.Add(seed, seed, seed, false)
		f.Add(seed, `{"a":1}`, "a", true)
	}
	f.Fuzz(func(t *testing.T, text, value, name string, masks bool) {
		if strings.Contains(strings.ReplaceAll(text+" "+value+" "+name, keyOf(""), " "), secret) {
			return // the secret without its prefix is not a credential
		}
		around := func(s string) string { return s + " " + keyOf("") + " " + s }
		quoted := must.Get(json.Marshal(around(text)))(t)
		all := []*resources.Judgement{judgement(t, 0), askedApp(t, value, resources.Member{Name: name, Value: quoted}, resources.Member{Name: around(name), Value: []byte(`1`)}), judgement(t, 2)}
		all[0].Question.Target.Rest, all[0].Question.Target.UserID, all[0].Question.AccountID = text, around(text), text
		all[0].Question.Principal.ID, all[0].Question.Principal.UUID, all[0].Decision.Reason = text, text, around(text)
		all[1].Question.App.Subject = []byte(`{"` + keyOf("1") + `":` + string(quoted) + `,"` + keyOf("2") + `":1}`)
		all[2].Path = resources.PathGrantable
		all[2].Question.Target, all[2].Question.Grant = resources.TargetAt(text, value), &resources.Grant{Permissions: []string{text, around(text)}, Until: resources.Time(len(text)) << 44}
		all[2].Question.Facts.Subject.Assignments[0].RoleID = name
		o := decisionlog.Options{Input: appInput}
		if masks {
			o.Mask = &mask{rules: `["/input/target/rest"]`}
		}
		written, err := decisionlog.Lines(o, all...)
		if err != nil {
			t.Fatalf("not written: %v", err)
		}
		if bytes.Contains(written, []byte(secret)) {
			t.Errorf("a credential is in %s", written)
		}
		records, err := decisionlog.Records(written)
		if err != nil || len(records) != len(all) {
			t.Fatalf("%d records, %v: %s", len(records), err, written)
		}
		for i, r := range records {
			e := r.Event(appInput)
			_, err := e.JSON()
			if err != nil || e.DecisionID != all[i].ID {
				t.Errorf("%s, want %s, %v", e.DecisionID, all[i].ID, err)
			}
		}
	})
}
