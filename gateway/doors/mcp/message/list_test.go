package message_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
)

// result is a response with this result.
func result(members string) string { return `{"jsonrpc":"2.0","id":1,"result":` + members + `}` }

// only keeps the items of these names.
func only(names ...string) func(message.Item) bool {
	return func(i message.Item) bool { return slices.Contains(names, i.Name) }
}

// TestListIsWrittenWithoutItems guarantees that items are left out and all else stays byte for byte, for each method.
func TestListIsWrittenWithoutItems(t *testing.T) {
	list := "\n{ \"tools\" : [ {\"name\":\"a\"} , {\"description\":\"é\",\"name\":\"\\u0062\"},\n{\"name\":\"c\"}\t] , \"nextCursor\":\"n\" }"
	for _, c := range []struct {
		method, list string
		keep         []string
		want         string
	}{
		{"tools/list", list, []string{"a", "b", "c"}, list},
		{"tools/list", list, []string{"a"}, "\n{ \"tools\" : [ {\"name\":\"a\"}\t] , \"nextCursor\":\"n\" }"},
		{"tools/list", list, []string{"b"}, "\n{ \"tools\" : [ {\"description\":\"é\",\"name\":\"\\u0062\"}\t] , \"nextCursor\":\"n\" }"},
		{"tools/list", list, []string{"c", "a"}, "\n{ \"tools\" : [ {\"name\":\"a\"},\n{\"name\":\"c\"}\t] , \"nextCursor\":\"n\" }"},
		{"tools/list", list, []string{"b", "c"}, "\n{ \"tools\" : [ {\"description\":\"é\",\"name\":\"\\u0062\"},\n{\"name\":\"c\"}\t] , \"nextCursor\":\"n\" }"},
		{"tools/list", list, nil, "\n{ \"tools\" : [ \t] , \"nextCursor\":\"n\" }"},
		{"tools/list", `{"tools":[]}`, nil, `{"tools":[]}`},
		{"prompts/list", `{"prompts":[{"name":"a"},{"name":"b"}]}`, []string{"b"}, `{"prompts":[{"name":"b"}]}`},
		{"resources/list", `{"resources":[{"uri":"a:1","name":"x"},{"uri":"a:2","name":"x"}]}`, []string{"a:2"}, `{"resources":[{"uri":"a:2","name":"x"}]}`},
		{"resources/templates/list", `{"resourceTemplates":[{"uriTemplate":"a:{b}"}]}`, []string{}, `{"resourceTemplates":[]}`},
	} {
		l, err := message.ReadList(c.method, []byte(result(c.list)))
		if err != nil {
			t.Errorf("%s: %v", c.list, err)
			continue
		}
		if got := string(l.Write(message.Legacy, only(c.keep...))); got != result(c.want) {
			t.Errorf("%s with %v\nis %s\nwant %s", c.list, c.keep, got, result(c.want))
		}
	}
	l, err := message.ReadList("tools/list", []byte(result(list)))
	if err != nil || len(l.Items) != 3 || l.Cursor != "n" || l.Items[1].Name != "b" || string(l.Items[1].Raw) != `{"description":"é","name":"\u0062"}` {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestModernListIsNotCached guarantees that no cache may keep or share a list or another result of the modern era.
func TestModernListIsNotCached(t *testing.T) {
	for list, want := range map[string]string{
		`{"tools":[{"name":"a"}]}`: `{"tools":[{"name":"a"}],"ttlMs":0,"cacheScope":"private"}`,
		`{"ttlMs":60000,"cacheScope":"public","tools":[{"name":"a"},{"name":"b"}],"resultType":"complete"}`: `{"ttlMs":0,"cacheScope":"private","tools":[{"name":"a"}],"resultType":"complete"}`,
		`{"tools":[{"name":"b"},{"name":"a"}], "cacheScope" : null }`:                                       `{"tools":[{"name":"a"}], "cacheScope" : "private" ,"ttlMs":0}`,
		`{"tools":[{"name":"a"}],"ttlMs":0,"cacheScope":"private"}`:                                         `{"tools":[{"name":"a"}],"ttlMs":0,"cacheScope":"private"}`,
	} {
		l, err := message.ReadList("tools/list", []byte(result(list)))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(l.Write(message.Modern, only("a"))); got != result(want) {
			t.Errorf("%s\nis %s\nwant %s", list, got, result(want))
		}
	}
	for body, want := range map[string]string{
		result(`{}`): result(`{"ttlMs":0,"cacheScope":"private"}`),
		result(`{"contents":[],"cacheScope":"public","ttlMs":5}`):        result(`{"contents":[],"cacheScope":"private","ttlMs":0}`),
		result(`{"resultType":"input_required"}`):                        result(`{"resultType":"input_required"}`),
		result(`{"resultType":"input_required","cacheScope":"public"}`):  result(`{"resultType":"input_required","cacheScope":"private"}`),
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"public"}}`: `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"public"}}`,
	} {
		if got, err := message.Uncached(message.Modern, []byte(body)); err != nil || string(got) != want {
			t.Errorf("%s\nis %s, %v\nwant %s", body, got, err, want)
		}
	}
	if got, err := message.Uncached(message.Modern, []byte(result(`{"cacheScope":"private","CacheScope":"public"}`))); err == nil {
		t.Errorf("taken: %s", got)
	}
}

// TestLegacyHintsAreReplaced guarantees that a legacy answer keeps no hint of a shared cache and gets no new hint.
func TestLegacyHintsAreReplaced(t *testing.T) {
	for body, want := range map[string]string{
		result(`{"tools":[],"ttlMs":5,"cacheScope":"public"}`): result(`{"tools":[],"ttlMs":0,"cacheScope":"private"}`),
		result(`{"tools":[],"cacheScope":"public"}`):           result(`{"tools":[],"cacheScope":"private"}`),
		result(`{"tools":[]}`):                                 result(`{"tools":[]}`),
	} {
		l, err := message.ReadList("tools/list", []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		got, err := message.Uncached(message.Legacy, []byte(body))
		if written := string(l.Write(message.Legacy, only())); err != nil || written != want || string(got) != want {
			t.Errorf("%s is %s and %s, %v; want %s", body, written, got, err, want)
		}
	}
}

// TestListWithTwoReadingsIsRefused guarantees that a list with two readings is an error.
func TestListWithTwoReadingsIsRefused(t *testing.T) {
	for name, list := range map[string]string{
		"name twice": `{"tools":[{"name":"a"},{"name":"a"}]}`, "item a string": `{"tools":["a"]}`, "item null": `{"tools":[null]}`, "no name": `{"tools":[{}]}`,
		"name empty": `{"tools":[{"name":""}]}`, "name a number": `{"tools":[{"name":1}]}`, "member twice": `{"tools":[{"name":"a","name":"b"}]}`,
		"member by case": `{"tools":[{"name":"a","Name":"b"}]}`, "list twice": `{"tools":[],"tools":[]}`, "list by case": `{"tools":[],"Tools":[{"name":"b"}]}`,
		"no list": `{}`, "list null": `{"tools":null}`, "list an object": `{"tools":{}}`, "cursor a number": `{"tools":[],"nextCursor":1}`,
		"result null": `null`, "result an array": `[]`, "trailing": `{"tools":[]}}`, "deep twice": `{"tools":[{"name":"a","inputSchema":{"x":1,"x":2}}]}`, "cut": `{"tools":[{"name":"a"`,
	} {
		if l, err := message.ReadList("tools/list", []byte(result(list))); err == nil || errors.Is(err, message.ErrNoList) {
			t.Errorf("%s is taken: %+v, %v", name, l, err)
		}
	}
	for _, member := range []string{"Title", "Description", "inputschema", "outputſchema", "ANNOTATIONS"} { // the definition has the other spelling
		list := `{"tools":[{"name":"a","description":"b","` + member + `":"c"}]}`
		if l, err := message.ReadList("tools/list", []byte(result(list))); err == nil {
			t.Errorf("a tool with %s is taken: %+v", member, l)
		}
	}
	for name, body := range map[string]string{"method": "{}", "result and error": `{"jsonrpc":"2.0","id":1,"result":{"tools":[]},"error":{}}`, "neither": `{"jsonrpc":"2.0","id":1}`} {
		if _, err := message.ReadList("tools/list", []byte(body)); err == nil || errors.Is(err, message.ErrNoList) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := message.ReadList("tools/list", []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`)); !errors.Is(err, message.ErrNoList) {
		t.Errorf("an error is %v", err)
	}
	if _, err := message.ReadList("tools/call", []byte(result(`{"tools":[]}`))); err == nil {
		t.Error("tools/call is a list")
	}
}

// BenchmarkList reads and writes a list of 500 tools, and keeps about half of them.
func BenchmarkList(b *testing.B) {
	var items []string
	for i := range 500 {
		items = append(items, fmt.Sprintf(`{"name":"tool_%d","description":"%s","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`, i, strings.Repeat("word ", 40)))
	}
	body := []byte(result(`{"tools":[` + strings.Join(items, ",") + `]}`))
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		l, err := message.ReadList("tools/list", body)
		if err != nil || len(l.Write(message.Modern, func(i message.Item) bool { return i.Start%2 == 0 })) == 0 {
			b.Fatal(err)
		}
	}
}
