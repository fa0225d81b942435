package contract

import (
	"net/http"
	"strings"
	"testing"
)

// sound is an exchange that the document has nothing against: role_assignment.put.
func sound() Exchange {
	return Exchange{
		Method: "PUT", Target: "/api/v1/accounts/acct-a-v1/roles/reader/assignments/user-u-v1?projectId=proj-p-v1",
		Header: http.Header{"X-Consistency": {"strict"}}, Body: []byte(`{"roleId":"admin","status":null}`),
		Answer: Answer{Status: 200, Header: http.Header{
			"X-Request-Id": {"r-1"}, "X-Decision-Id": {strings.Repeat("0", 26)}, "Cache-Control": {"no-store"}, "Content-Type": {"application/json"}, "Date": {"now"},
		}, Raw: []byte(`{"assigneeId":"user-u-v1","assigneeType":"USER","roleId":"reader","status":"ACTIVE",` +
			`"createdAt":"2026-01-31T12:00:00.000Z","updatedAt":"2026-01-31T12:00:00.000Z"}`)},
	}
}

// TestWhatTheDocumentDoesNotSayIsFound, one change of a sound exchange at a time.
func TestWhatTheDocumentDoesNotSayIsFound(t *testing.T) {
	t.Parallel()
	const refusal = `{"error":{"code":"NOT_FOUND","message":"There is no such role."}}`
	for name, tc := range map[string]struct {
		change func(x *Exchange)
		want   string // "" for nothing
	}{
		"nothing":                 {func(*Exchange) {}, ""},
		"a refusal":               {func(x *Exchange) { x.Answer.Status, x.Answer.Raw = 404, []byte(refusal) }, ""},
		"a wrong request refused": {func(x *Exchange) { x.Answer.Status, x.Answer.Raw, x.Body = 404, []byte(refusal), []byte(`{"x":1}`) }, ""},
		"a status":                {func(x *Exchange) { x.Answer.Status = 202 }, "does not know this status"},
		"another area's refusal":  {func(x *Exchange) { x.Answer.Status, x.Answer.Raw = 404, []byte(`{"error":"x","code":"NOT_FOUND"}`) }, "at '/error'"},
		"a further field":         {func(x *Exchange) { x.Answer.Raw = []byte(strings.Replace(string(x.Answer.Raw), `{`, `{"more":1,`, 1)) }, "'more' not allowed"},
		"a field that is missing": {func(x *Exchange) {
			x.Answer.Raw = []byte(strings.Replace(string(x.Answer.Raw), `"status":"ACTIVE",`, ``, 1))
		}, "'status'"},
		"a null":                     {func(x *Exchange) { x.Answer.Raw = []byte(strings.Replace(string(x.Answer.Raw), `"ACTIVE"`, `null`, 1)) }, "at '/status'"},
		"a time without millis":      {func(x *Exchange) { x.Answer.Raw = []byte(strings.ReplaceAll(string(x.Answer.Raw), `.000Z`, `Z`)) }, "at '/createdAt'"},
		"no JSON":                    {func(x *Exchange) { x.Answer.Raw = []byte(`<html>`) }, "not JSON"},
		"a response header":          {func(x *Exchange) { x.Answer.Header.Set("X-Debug", "1") }, "no response header X-Debug"},
		"a header that is missing":   {func(x *Exchange) { x.Answer.Header.Del("X-Request-Id") }, "X-Request-Id is missing"},
		"a header's value":           {func(x *Exchange) { x.Answer.Header.Set("Cache-Control", "public") }, "Cache-Control"},
		"a 401 without its header":   {func(x *Exchange) { x.Answer.Status, x.Answer.Raw = 401, []byte(refusal) }, "Www-Authenticate is missing"},
		"another kind of answer":     {func(x *Exchange) { x.Answer.Header.Set("Content-Type", "text/html") }, `of the kind "text/html"`},
		"a request's field":          {func(x *Exchange) { x.Body = []byte(`{"role":"admin"}`) }, "'role' not allowed"},
		"a request without its body": {func(x *Exchange) { x.Body = nil }, "a body is needed"},
		"a query parameter":          {func(x *Exchange) { x.Target += "&page=1" }, "no query parameter page"},
		"a parameter's value":        {func(x *Exchange) { x.Target = strings.Replace(x.Target, "proj-p-v1", "a/b", 1) }, "query projectId"},
		"a path's value":             {func(x *Exchange) { x.Target = strings.Replace(x.Target, "reader", "read,er", 1) }, "path roleId"},
		"a header of the request":    {func(x *Exchange) { x.Header.Set("X-Consistency", "lax") }, "header X-Consistency"},
		"a route":                    {func(x *Exchange) { x.Target = "/api/v1/nothing" }, "no such route"},
		"a method":                   {func(x *Exchange) { x.Method = "PATCH" }, "no such route (methods of the path: [DELETE PUT])"},
		"a probe at the edge":        {func(x *Exchange) { x.Method, x.Target = "GET", "/healthz/live" }, "no such route"},
	} {
		t.Run(name, func(t *testing.T) {
			x := sound()
			tc.change(&x)
			names := Read(t).Against(EdgeListener, x)
			if tc.want == "" && len(names) > 0 || tc.want != "" && !strings.Contains(strings.Join(names, "\n"), tc.want) {
				t.Errorf("found %q, want %q", names, tc.want)
			}
		})
	}
}
