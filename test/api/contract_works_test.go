package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// sound is an exchange that the document has nothing against: role_assignment.put.
func sound() exchange {
	return exchange{
		method: "PUT", url: "/api/v1/accounts/acct-a-v1/roles/reader/assignments/user-u-v1?projectId=proj-p-v1",
		header: http.Header{"X-Consistency": {"strict"}}, body: []byte(`{"roleId":"admin","status":null}`),
		answer: reply{Status: 200, Header: http.Header{
			"X-Request-Id": {"r-1"}, "Cache-Control": {"no-store"}, "Content-Type": {"application/json"}, "Date": {"now"},
		}, Raw: []byte(`{"assigneeId":"user-u-v1","assigneeType":"USER","roleId":"reader","status":"ACTIVE",` +
			`"createdAt":"2026-01-31T12:00:00.000Z","updatedAt":"2026-01-31T12:00:00.000Z"}`)},
	}
}

// TestWhatTheDocumentDoesNotSayIsFound, one change of a sound exchange at a time.
func TestWhatTheDocumentDoesNotSayIsFound(t *testing.T) {
	t.Parallel()
	const refusal = `{"error":{"code":"NOT_FOUND","message":"There is no such role."}}`
	for name, tc := range map[string]struct {
		change func(x *exchange)
		want   string // "" for nothing
	}{
		"nothing":                 {func(*exchange) {}, ""},
		"a refusal":               {func(x *exchange) { x.answer.Status, x.answer.Raw = 404, []byte(refusal) }, ""},
		"a wrong request refused": {func(x *exchange) { x.answer.Status, x.answer.Raw, x.body = 404, []byte(refusal), []byte(`{"x":1}`) }, ""},
		"a status":                {func(x *exchange) { x.answer.Status = 202 }, "does not know this status"},
		"another area's refusal":  {func(x *exchange) { x.answer.Status, x.answer.Raw = 404, []byte(`{"error":"x","code":"NOT_FOUND"}`) }, "at '/error'"},
		"a further field":         {func(x *exchange) { x.answer.Raw = []byte(strings.Replace(string(x.answer.Raw), `{`, `{"more":1,`, 1)) }, "'more' not allowed"},
		"a field that is missing": {func(x *exchange) {
			x.answer.Raw = []byte(strings.Replace(string(x.answer.Raw), `"status":"ACTIVE",`, ``, 1))
		}, "'status'"},
		"a null":                     {func(x *exchange) { x.answer.Raw = []byte(strings.Replace(string(x.answer.Raw), `"ACTIVE"`, `null`, 1)) }, "at '/status'"},
		"a time without millis":      {func(x *exchange) { x.answer.Raw = []byte(strings.ReplaceAll(string(x.answer.Raw), `.000Z`, `Z`)) }, "at '/createdAt'"},
		"no JSON":                    {func(x *exchange) { x.answer.Raw = []byte(`<html>`) }, "not JSON"},
		"a response header":          {func(x *exchange) { x.answer.Header.Set("X-Debug", "1") }, "no response header X-Debug"},
		"a header that is missing":   {func(x *exchange) { x.answer.Header.Del("X-Request-Id") }, "X-Request-Id is missing"},
		"a header's value":           {func(x *exchange) { x.answer.Header.Set("Cache-Control", "public") }, "Cache-Control"},
		"a 401 without its header":   {func(x *exchange) { x.answer.Status, x.answer.Raw = 401, []byte(refusal) }, "Www-Authenticate is missing"},
		"another kind of answer":     {func(x *exchange) { x.answer.Header.Set("Content-Type", "text/html") }, `of the kind "text/html"`},
		"a request's field":          {func(x *exchange) { x.body = []byte(`{"role":"admin"}`) }, "'role' not allowed"},
		"a request without its body": {func(x *exchange) { x.body = nil }, "a body is needed"},
		"a query parameter":          {func(x *exchange) { x.url += "&page=1" }, "no query parameter page"},
		"a parameter's value":        {func(x *exchange) { x.url = strings.Replace(x.url, "proj-p-v1", "a/b", 1) }, "query projectId"},
		"a path's value":             {func(x *exchange) { x.url = strings.Replace(x.url, "reader", "read,er", 1) }, "path roleId"},
		"a header of the request":    {func(x *exchange) { x.header.Set("X-Consistency", "lax") }, "header X-Consistency"},
		"a route":                    {func(x *exchange) { x.url = "/api/v1/nothing" }, "no such route"},
		"a method":                   {func(x *exchange) { x.method = "PATCH" }, "no such route (methods of the path: [DELETE PUT])"},
		"a probe at the edge":        {func(x *exchange) { x.method, x.url = "GET", "/healthz/live" }, "no such route"},
	} {
		t.Run(name, func(t *testing.T) {
			x := sound()
			tc.change(&x)
			found := readContract(t).against(edgeListener, x.url, x)
			if tc.want == "" && len(found) > 0 || tc.want != "" && !strings.Contains(strings.Join(found, "\n"), tc.want) {
				t.Errorf("found %q, want %q", found, tc.want)
			}
		})
	}
}
