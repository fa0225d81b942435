package harness

import (
	"encoding/json"
	"slices"
	"testing"
	"time"
)

// At reads a value from decoded JSON: names and indexes, from the outside in.
func At(v any, path ...any) any {
	for _, step := range path {
		switch key := step.(type) {
		case string:
			object, _ := v.(map[string]any)
			v = object[key]
		case int:
			list, _ := v.([]any)
			if key >= len(list) {
				return nil
			}
			v = list[key]
		}
	}
	return v
}

// Fields are the names in an object, sorted.
func Fields(v any) []string {
	object, _ := v.(map[string]any)
	var out []string
	for name := range object {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// WantFields holds an object to exactly these names.
func WantFields(t testing.TB, title string, v any, names ...string) {
	t.Helper()
	slices.Sort(names)
	if got := Fields(v); !slices.Equal(got, names) {
		t.Errorf("%s has the fields %v, want %v", title, got, names)
	}
}

// WantTimes holds fields to the form of every timestamp.
func WantTimes(t testing.TB, v any, names ...string) {
	t.Helper()
	for _, name := range names {
		text, _ := At(v, name).(string)
		if _, err := time.Parse("2006-01-02T15:04:05.000Z", text); err != nil {
			t.Errorf("%s is %q: not RFC 3339, UTC, milliseconds", name, text)
		}
	}
}

// WantRefusal holds an answer to a status and to the error body of access management.
func WantRefusal(t testing.TB, r Reply, status int, code string) {
	t.Helper()
	message, _ := At(r.Body, "error", "message").(string)
	if r.Status != status || At(r.Body, "error", "code") != code || message == "" || len(r.Body) != 1 {
		t.Errorf("%d %s, want %d %s", r.Status, r.Raw, status, code)
	}
	for name := range At(r.Body, "error").(map[string]any) {
		if !slices.Contains([]string{"code", "message", "details"}, name) {
			t.Errorf("an error body with %q: %s", name, r.Raw)
		}
	}
	if r.Header.Get("X-Request-ID") == "" || r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", r.Header)
	}
}

// ItemWith is the item of a list whose named field is the text, nil for none.
func ItemWith(list any, name, text string) any {
	items, _ := list.([]any)
	if i := slices.Index(Texts(list, name), text); i >= 0 {
		return items[i]
	}
	return nil
}

// Texts are the named fields of a list's items.
func Texts(list any, name string) []string {
	items, _ := list.([]any)
	out := make([]string, len(items))
	for i, item := range items {
		switch v := At(item, name).(type) {
		case string:
			out[i] = v
		case json.Number:
			out[i] = v.String()
		}
	}
	return out
}
