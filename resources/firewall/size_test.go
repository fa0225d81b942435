package firewall_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/firewall"
	"github.com/portcullis-authz/portcullis/store"
)

// wide are 200 rules with descriptions of 255 characters, each of them three bytes.
func wide() []areatest.Object {
	out := make([]areatest.Object, 200)
	for i := range out {
		out[i] = tcpRule(i)
		out[i]["description"] = strings.Repeat("€", 255)
	}
	return out
}

// bytesOf is how much of an answer about one group the group takes.
func bytesOf(t *testing.T, got areatest.Answer) int {
	t.Helper()
	inner, end := strings.TrimPrefix(got.Text, `{"security_group":`), strings.LastIndex(got.Text, `,"message":`)
	if len(inner) == len(got.Text) || end < 0 {
		t.Fatalf("%.200s", got.Text)
	}
	return end - len(`{"security_group":`)
}

// TestPageEndsEarly: a page of great groups holds fewer of them than were asked for,
// and the next ones go on where it ended; so it is with the deleted ones.
func TestPageEndsEarly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var want, ids []string
	rules := wide()
	for i := range 24 {
		id, _ := w.made(fmt.Sprint("g", i), rules...)
		want, ids = append(want, fmt.Sprint("g", i)), append(ids, id)
		w.Clock.Add(1)
	}
	w.made("small")
	w.Clock.Add(1)
	want = append(want, "small")
	slices.Reverse(want)
	check := func(query string, want []string) {
		t.Helper()
		first := w.Expect(w.call("security_group.list?"+query, nil), 200)
		if n := len(names(first)); n < 15 || n > 20 || len(first.Text) > firewall.MaxPageBytes+1024 || first.Body["next_page_token"] == "" {
			t.Errorf("%s: %d groups in %d bytes, token %.9q", query, n, len(first.Text), first.Body["next_page_token"])
		}
		if got := w.pages(query, len(want)); !slices.Equal(got, want) {
			t.Errorf("%s: %q", query, got)
		}
	}
	check("page_size=100", want)
	check("page_size=24&status=active", want)
	if got := w.Expect(w.call("security_group.list?page_size=12", nil), 200); len(names(got)) != 12 {
		t.Errorf("%d groups, which had room", len(names(got)))
	}
	for _, id := range ids {
		w.Expect(w.call("security_group.delete", nil, id), 200)
	}
	check("page_size=100&status=deleted", want[1:])
}

// TestPageHoldsOneGroup, however great: some were stored before groups were bounded,
// and a page without one would never end.
func TestPageHoldsOneGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	great := resources.SecurityGroup{AccountID: acctA, ProjectID: projA, Status: resources.SecurityGroupActive, Rules: []resources.SecurityGroupRule{}, CreatedAt: areatest.Start}
	great.Description, great.Metadata = strings.Repeat("x", firewall.MaxPageBytes), []byte(`{"a":1}`)
	err := w.Store.Transact(t.Context(), func(tx store.Tx) error {
		for _, name := range []string{"a", "b", "c"} {
			great.ID, great.Name = "sg-"+name+"-v1", name
			if err := w.Collections.SecurityGroups.Insert(t.Context(), tx, great); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.Expect(w.call("security_group.list", nil), 200); len(names(got)) != 1 {
		t.Errorf("%v", names(got))
	}
	if got := w.pages("", 3); strings.Join(got, " ") != "c b a" {
		t.Errorf("%v", got)
	}
	// What is past the bound grows no further, and may shrink.
	w.Expect(w.call("security_group_rule.create", tcpRule(1), great.ID), 409, `"code":"CONFLICT"`)
	w.Expect(w.call("security_group.update", areatest.Object{"metadata": areatest.Object{"a": 12}}, great.ID), 409, `"code":"CONFLICT"`)
	w.Expect(w.call("security_group.update", areatest.Object{"metadata": areatest.Object{"a": 2}}, great.ID), 200)
	w.Expect(w.call("security_group.update", areatest.Object{"metadata": areatest.Object{}}, great.ID), 200)
	w.Expect(w.call("security_group.update", areatest.Object{"description": "x"}, great.ID), 200)
	w.Expect(w.call("security_group_rule.create", tcpRule(1), great.ID), 201)
}

// TestGroupIsBoundedInBytes: 409 for what would make it greater, by each of the ways, on
// both sides of the edge.
func TestGroupIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	draft := w.draft("web", wide()...)
	probe := w.Expect(w.call("security_group.create", draft), 201)
	room := firewall.MaxGroupBytes - bytesOf(t, probe)
	// metadata of that many bytes, its field's name included
	filled := func(bytes int) areatest.Object {
		return areatest.Object{"x": strings.Repeat("x", bytes-len(`"metadata":{"x":""},`))}
	}
	if room < 1024 || room > 64<<10 {
		t.Fatalf("%d bytes of room", room)
	}
	const most = 16 << 10 // of metadata
	rules := draft["rules"].([]areatest.Object)
	for i := 0; room > most; i++ { // longer descriptions: each of them takes six bytes a character
		rules[i]["description"] = strings.Repeat("\u2028", 255)
		room -= 255 * 3
	}
	draft["name"], draft["metadata"] = "wab", filled(room)
	full := w.Expect(w.call("security_group.create", draft), 201)
	if n := bytesOf(t, full); n != firewall.MaxGroupBytes {
		t.Fatalf("the group takes %d bytes", n)
	}
	id := full.Body["security_group"].(map[string]any)["id"].(string)
	draft["name"], draft["metadata"] = "wib", filled(room+1)
	w.Expect(w.call("security_group.create", draft), 409, `"code":"CONFLICT"`, "262145 bytes", "shorten descriptions")
	w.Expect(w.call("security_group.update", areatest.Object{"metadata": filled(room + 1)}, id), 409, `"code":"CONFLICT"`)
	w.Expect(w.call("security_group.update", areatest.Object{"name": "wobb"}, id), 409)
	w.Expect(w.call("security_group.update", areatest.Object{"name": "wob"}, id), 200)
	last := full.Body["security_group"].(map[string]any)["rules"].([]any)[199].(map[string]any)["id"].(string)
	w.Expect(w.call("security_group_rule.delete", nil, id, last), 200)
	wider := rules[199]
	wider["description"] = strings.Repeat("€", 254) + "\u2028"
	w.Expect(w.call("security_group_rule.create", wider, id), 409, `"code":"CONFLICT"`, "divide the rules")
	wider["description"] = strings.Repeat("€", 255)
	w.Expect(w.call("security_group_rule.create", wider, id), 201)
}

// TestManyRulesAreNotRead: of a body full of them only those are looked at that a
// group may have. Alone, since it looks at what all take.
func TestManyRulesAreNotRead(t *testing.T) {
	w := newWorld(t, quotas(3, 2))
	rest := strings.Repeat(",{}", 340_000)
	call := func(first string) (got areatest.Answer, taken uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got = w.call("security_group.create", `{"project_id":"proj-a-v1","name":"web","rules":[`+first+rest+`]}`)
		runtime.ReadMemStats(&after)
		return got, after.TotalAlloc - before.TotalAlloc
	}
	got, taken := call(rule("tcp", "") + "," + rule("udp", ""))
	w.Expect(got, 409, "at most 2 rules")
	if taken > 64<<20 {
		t.Errorf("%d MB", taken>>20)
	}
	got, _ = call(rule("tcp", "") + `,{"direction":"up","protocol":"tcp"}`)
	w.refused(got, "rules[1].direction")
}
