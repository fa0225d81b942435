package api_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestSecurityGroupsAreMadeOnce: a repeat with the same Idempotency-Key is answered as
// the first was, by security_group.create and security_group_rule.create alike; another request with that key is refused.
func TestSecurityGroupsAreMadeOnce(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	id := w.made(t, "base")
	for name, c := range map[string]struct{ rest, body, other string }{
		"security_group.create":      {"", w.draft("once", ""), w.draft("other", "")},
		"security_group_rule.create": {"/" + id + "/rules", onPort(1, ""), onPort(2, "")},
	} {
		key := []string{"Idempotency-Key", "once-" + name}
		first := w.must(t, 201, "POST", c.rest, c.body, key...)
		if r := w.must(t, 201, "POST", c.rest, c.body, key...); string(r.Raw) != string(first.Raw) {
			t.Errorf("%s: %s, the first %s", name, r.Raw, first.Raw)
		}
		wantWallRefusal(t, name+" without the key", w.do(t, "POST", c.rest, c.body), 409, "CONFLICT")
		wantWallRefusal(t, name+" of another request", w.do(t, "POST", c.rest, c.other, key...), 409, "CONFLICT")
		wantWallRefusal(t, name+" of no key", w.do(t, "POST", c.rest, c.other, "Idempotency-Key", "a b"), 400, "BAD_REQUEST", "Idempotency-Key")
	}
	if r := w.must(t, 200, "GET", "", ""); fmt.Sprint(r.Body["total_count"]) != "2" {
		t.Errorf("%s", r.Raw)
	}
}

// TestSecurityGroupsAtOnce: of the same name one is made, of equal rules one is added, and
// of a group's deletion and a rule that names it one happens.
func TestSecurityGroupsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	id := w.made(t, "base")
	atOnce := func(n int, ask func(i int) harness.Reply) map[int]int {
		var wg sync.WaitGroup
		var mu sync.Mutex
		got := map[int]int{}
		for i := range n {
			wg.Go(func() {
				r := ask(i)
				mu.Lock()
				defer mu.Unlock()
				got[r.Status]++
			})
		}
		wg.Wait()
		return got
	}
	if got := atOnce(8, func(int) harness.Reply { return w.do(t, "POST", "", w.draft("one", "")) }); fmt.Sprint(got) != "map[201:1 409:7]" {
		t.Errorf("one name: %v", got)
	}
	if got := atOnce(8, func(int) harness.Reply { return w.do(t, "POST", "/"+id+"/rules", onPort(1, "")) }); fmt.Sprint(got) != "map[201:1 409:7]" {
		t.Errorf("one rule: %v", got)
	}
	if got := atOnce(8, func(i int) harness.Reply { return w.do(t, "POST", "/"+id+"/rules", onPort(2+i, "")) }); fmt.Sprint(got) != "map[201:8]" {
		t.Errorf("eight rules: %v", got)
	}
	if r := w.must(t, 200, "GET", "/"+id, ""); len(harness.At(r.Body, "security_group", "rules").([]any)) != 9 {
		t.Errorf("%s", r.Raw)
	}
	for i := range 5 {
		target := w.made(t, fmt.Sprint("target", i))
		got := atOnce(2, func(n int) harness.Reply {
			if n == 0 {
				return w.do(t, "DELETE", "/"+target, "")
			}
			return w.do(t, "POST", "/"+id+"/rules", onPort(100+i, namesGroup(target)))
		})
		if text := fmt.Sprint(got); text != "map[200:1 400:1]" && text != "map[201:1 409:1]" {
			t.Errorf("deleted and named: %v", got)
		}
	}
}
