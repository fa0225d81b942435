package areatest

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Object is a JSON object.
type Object map[string]any

// Answer is what a handler answered.
type Answer struct {
	Status int
	// Text is the body as it is sent, Body its fields with numbers as they are written.
	Text string
	Body map[string]any
	// Err is nil if the handler succeeded.
	Err *resources.Error
	// ShownOnce is the part of the body that no repeat shows again.
	ShownOnce string
}

// At returns a value of the body by names joined with dots, nil for none.
func (a Answer) At(path string) any {
	var v any = a.Body
	for name := range strings.SplitSeq(path, ".") {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// Str returns a string of the body by names joined with dots.
func (a Answer) Str(path string) string {
	s, _ := a.At(path).(string)
	return s
}

// Int returns a whole number of the body by names joined with dots, -1 for none.
func (a Answer) Int(path string) int {
	number, _ := a.At(path).(json.Number)
	n, err := strconv.Atoi(number.String())
	if err != nil {
		return -1
	}
	return n
}

// Body returns the body of a request: a string as it is, nothing for nil, anything else as JSON.
func Body(body any) []byte {
	switch b := body.(type) {
	case nil:
		return nil
	case string:
		return []byte(b)
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			panic(err)
		}
		return raw
	}
}

// Ask hands the request to the route's handler. It may be called on any goroutine.
func (w *World) Ask(route string, r *wire.Request) (got Answer) {
	w.T.Helper()
	handler, ok := w.Routes[route]
	if !ok {
		panic("no route " + route)
	}
	var raw []byte
	out, err := handler(w.Ctx, r)
	if err != nil {
		got.Err = resources.AsError(err)
		got.Status, raw = wire.Status(got.Err.Kind), wire.ErrorBody(w.Area, got.Err)
	} else {
		got.Status, got.ShownOnce = out.Status, out.ShownOnce
		if raw, err = wire.Render(out.Body); err != nil {
			panic(err)
		}
	}
	got.Text = string(raw)
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // metadata may hold numbers that no float holds
	if err := dec.Decode(&got.Body); err != nil {
		w.T.Errorf("%s: %v", raw, err)
	}
	return got
}

// Expect fails the test unless the answer has that status and each of the texts is in it.
func (w *World) Expect(got Answer, status int, texts ...string) Answer {
	w.T.Helper()
	if got.Status != status {
		w.T.Fatalf("status %d, want %d: %s (cause: %v)", got.Status, status, got.Text, got.Err)
	}
	for _, text := range texts {
		if !strings.Contains(got.Text, text) {
			w.T.Errorf("%q is not in the answer %s", text, got.Text)
		}
	}
	return got
}

// AtOnce runs the calls together and returns their answers.
func AtOnce(calls ...func() Answer) []Answer {
	out := make([]Answer, len(calls))
	var ready, done sync.WaitGroup
	ready.Add(len(calls))
	for i, call := range calls {
		done.Go(func() {
			ready.Done()
			ready.Wait()
			out[i] = call()
		})
	}
	done.Wait()
	return out
}
