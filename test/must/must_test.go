package must_test

import (
	"errors"
	"testing"

	"github.com/portcullis-authz/portcullis/test/must"
)

// ended is a test that notes the arguments of Fatal.
type ended struct {
	testing.TB
	args []any
}

func (e *ended) Helper()           {}
func (e *ended) Fatal(args ...any) { e.args = append(e.args, args...) }

func TestAnErrorEndsTheTest(t *testing.T) {
	wrong := errors.New("wrong")
	for name, step := range map[string]func(t testing.TB, err error){
		"do":  must.Do,
		"get": func(t testing.TB, err error) { must.Get(1, err)(t) },
		"two": func(t testing.TB, err error) { must.Two(1, 2, err)(t) },
	} {
		e := &ended{}
		if step(e, nil); len(e.args) != 0 {
			t.Errorf("%s: ended without an error, with %v", name, e.args)
		}
		if step(e, wrong); len(e.args) != 1 || e.args[0] != wrong { //nolint:errorlint // it is passed on as it is
			t.Errorf("%s: ended with %v", name, e.args)
		}
	}
}

func TestValuesAreThoseOfTheStep(t *testing.T) {
	if v := must.Get("a", nil)(t); v != "a" {
		t.Errorf("got %q", v)
	}
	if v, u := must.Two("a", 2, nil)(t); v != "a" || u != 2 {
		t.Errorf("got %q, %d", v, u)
	}
}
