package wire_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/test/must"
)

func ask(query string, read func(*wire.Query)) []string {
	var p wire.Problems
	q := (&wire.Request{Query: query}).ParseQuery(&p)
	read(q)
	q.Done()
	return problemsOf(p.Err())
}

// TestQueryIsReadStrictly guarantees a problem for a parameter sent twice, an unknown one, one in another case and one
// like an operator. The order is the same each time.
func TestQueryIsReadStrictly(t *testing.T) {
	read := func(q *wire.Query) {
		q.OneOf("status", "", "ACTIVE", "INACTIVE")
		q.ID("projectId")
		q.Numbered()
	}
	for query, want := range map[string][]string{
		"":                         nil,
		"status=ACTIVE&page=2":     nil,
		"projectId=":               nil,
		"status=":                  {"status: must be one of ACTIVE, INACTIVE"},
		"status=active":            {"status: must be one of ACTIVE, INACTIVE"},
		"status[$ne]=ACTIVE":       {"status[$ne]: unknown query parameter"},
		"status=ACTIVE&status=":    {"status: must be sent once"},
		"Status=ACTIVE":            {"Status: unknown query parameter"},
		"projectId=a%2Fb":          {"projectId: must be 1 to 128 characters of [A-Za-z0-9._@-]"},
		"projectId=a%00":           {"projectId: must be 1 to 128 characters of [A-Za-z0-9._@-]"},
		"page=0":                   {"page: must be a whole number from 1 to 2147483647"},
		"page=01":                  {"page: must be a whole number from 1 to 2147483647"},
		"page=%2B1":                {"page: must be a whole number from 1 to 2147483647"},
		"page=1.0&pageSize=101":    {"page: must be a whole number from 1 to 2147483647", "pageSize: must be a whole number from 1 to 100"},
		"page=9223372036854775808": {"page: must be a whole number from 1 to 2147483647"},
		"b=1&a=1&b=2&a=2":          {"a: must be sent once", "b: must be sent once", "a: unknown query parameter", "b: unknown query parameter"},
		"status=%zz":               {"query: is not a valid query string"},
		"a;b=1":                    {"query: is not a valid query string"},
	} {
		for range 20 {
			if got := ask(query, read); !slices.Equal(got, want) {
				t.Fatalf("%q: %q, want %q", query, got, want)
			}
		}
	}
}

// TestWrongTimesAreTold guarantees the problem of a text without a time, and that of the one time with another meaning,
// in a query and in a body.
func TestWrongTimesAreTold(t *testing.T) {
	const other, none = "must be a date-time (RFC 3339), for example 2030-01-31T12:00:00Z", "must not be 1970-01-01T00:00:00Z, which stands for no time"
	for text, want := range map[string]string{
		"2030-01-31T12:00:00Z": "", "1969-12-31T23:59:59.999Z": "", "1970-01-01T00:00:00.001Z": "", "": other, "soon": other, "0": other,
		"1970-01-01T00:00:00Z": none, "1970-01-01T01:00:00.0009%2B01:00": none,
	} {
		var wanted []string
		if want != "" {
			wanted = []string{"since: " + want}
		}
		if got := ask("since="+text, func(q *wire.Query) { q.Time("since") }); !slices.Equal(got, wanted) {
			t.Errorf("a query with %q: %q", text, got)
		}
		var p wire.Problems
		body := strings.ReplaceAll(`{"since":"`+text+`"}`, "%2B", "+")
		(&wire.Request{Body: []byte(body)}).ParseObject(&p).Time("since")
		if got := problemsOf(p.Err()); !slices.Equal(got, wanted) {
			t.Errorf("%s: %q", body, got)
		}
	}
}

func TestPagesByNumber(t *testing.T) {
	all := []int{1, 2, 3, 4, 5}
	for _, c := range []struct {
		page, size int
		want       []int
		pages      int
	}{{1, 2, []int{1, 2}, 3}, {3, 2, []int{5}, 3}, {4, 2, []int{}, 3}, {1 << 31, 100, []int{}, 1}, {1<<31 - 1, 2, []int{}, 3}, {1, 5, all, 1}} {
		got, meta := wire.Cut(wire.Numbered{Page: c.page, Size: c.size}, all)
		if got == nil || !slices.Equal(got, c.want) || meta != (wire.Meta{Total: 5, Page: c.page, PageSize: c.size, TotalPages: c.pages}) {
			t.Errorf("%+v: %v %+v", c, got, meta)
		}
	}
	if got, meta := wire.Cut(wire.Numbered{Page: 1, Size: 20}, []int(nil)); got == nil || len(got) != 0 || meta.TotalPages != 0 {
		t.Errorf("%v %+v", got, meta)
	}
	ask("", func(q *wire.Query) {
		if n := q.Numbered(); n != (wire.Numbered{Page: 1, Size: 20}) || q.PageSize() != 50 {
			t.Errorf("defaults: %+v %d", n, q.PageSize())
		}
	})
}

func tokens(t testing.TB, keys ...byte) wire.PageTokens {
	t.Helper()
	var all [][]byte
	for _, k := range keys {
		all = append(all, bytes.Repeat([]byte{k}, 32))
	}
	return must.Get(wire.NewPageTokens(all))(t)
}

// TestPageTokenOpensForItsListOnly checks tokens of another list, forged ones, and ones of another
// length or with a changed bit. A token opens after its key was rotated, until that key is removed.
func TestPageTokenOpensForItsListOnly(t *testing.T) {
	old := tokens(t, 1)
	token := old.Seal([]byte("cursor"), "user.list|acct-a-v1")
	if got, ok := tokens(t, 2, 1).Open(token, "user.list|acct-a-v1"); !ok || string(got) != "cursor" {
		t.Errorf("after a rotation: %q %t", got, ok)
	}
	if strings.Contains(token, base64.RawURLEncoding.EncodeToString([]byte("cursor"))) || token == old.Seal([]byte("cursor"), "user.list|acct-a-v1") {
		t.Error("the token tells what it holds, or is the same twice")
	}
	raw, _ := base64.RawURLEncoding.DecodeString(token)
	wrong := map[string]string{
		"empty": "", "short": "AAAA", "padded": token + "=", "doubled": token + token, "line break": token[:8] + "\n" + token[8:], "carriage return": token + "\r", "blank": " " + token,
		"standard alphabet": strings.NewReplacer("-", "+", "_", "/").Replace(token) + "+", "huge": strings.Repeat("A", 5000), "plain": base64.RawURLEncoding.EncodeToString([]byte("cursor")),
	}
	for i := range len(token) {
		wrong["cut to "+token[:i]] = token[:i]
	}
	for i := range raw {
		changed := bytes.Clone(raw)
		changed[i] ^= 1
		wrong["changed"+string(rune(i))] = base64.RawURLEncoding.EncodeToString(changed)
	}
	for name, forged := range wrong {
		if got, ok := old.Open(forged, "user.list|acct-a-v1"); ok || got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, binding := range []string{"", "user.list|acct-b-v1", "user.list|acct-a-v1|", "api_key.create|acct-a-v1"} {
		if _, ok := old.Open(token, binding); ok {
			t.Errorf("opens for %q", binding)
		}
	}
	if _, ok := tokens(t, 2).Open(token, "user.list|acct-a-v1"); ok {
		t.Error("opens with another key")
	}
	if _, err := wire.NewPageTokens([][]byte{{1, 2, 3}}); err == nil {
		t.Error("a short key is taken")
	}
	problems := ask("page_token="+token, func(q *wire.Query) {
		q.PageToken(old, "another list", func(cursor []byte) error { t.Errorf("%q", cursor); return nil })
	})
	if !slices.Equal(problems, []string{"page_token: is not a token of this list; begin again without it"}) {
		t.Errorf("%q", problems)
	}
	for token, want := range map[string]struct {
		parsed   error
		problems []string
	}{
		"":                                 {errors.New("not asked"), nil},
		old.Seal(nil, "list"):              {errors.New("no place"), []string{"page_token: is not a token of this list; begin again without it"}},
		old.Seal([]byte("cursor"), "list"): {nil, nil},
	} {
		got := ask("page_token="+token, func(q *wire.Query) {
			q.PageToken(old, "list", func([]byte) error { return want.parsed })
		})
		if !slices.Equal(got, want.problems) {
			t.Errorf("%q: %q, want %q", token, got, want.problems)
		}
	}
}

// FuzzPageToken guarantees that an accepted token holds a sealed cursor and has one form only.
func FuzzPageToken(f *testing.F) {
	t1 := tokens(f, 1)
	cursors := []string{"", "a", strings.Repeat("c", 300)}
	for _, cursor := range cursors {
		f.Add(t1.Seal([]byte(cursor), "list"))
	}
	f.Add("AAAA")
	f.Add("a\n")
	f.Fuzz(func(t *testing.T, token string) {
		if cursor, ok := t1.Open(token, "list"); ok {
			raw, err := base64.RawURLEncoding.DecodeString(token)
			if err != nil || !slices.Contains(cursors, string(cursor)) || base64.RawURLEncoding.EncodeToString(raw) != token {
				t.Errorf("%q opens as %q", token, cursor)
			}
		}
		if _, ok := t1.Open(token, "other"); ok {
			t.Errorf("%q opens for another list", token)
		}
	})
}
