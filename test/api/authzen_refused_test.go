package api_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestEvaluationRefusesWhatIsNotAQuestion: 400 with all problems, by itself and as the error of an item.
func TestEvaluationRefusesWhatIsNotAQuestion(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	subject, project := entity("user", s.Admin), entity("project", s.Project)
	good := question(subject, "project:instance:read", project)
	but := func(name string, value any) object {
		q := maps.Clone(good)
		q[name] = value
		return q
	}
	resource := func(kind, id string, properties ...string) object {
		return but("resource", entity(kind, id, properties...))
	}
	for name, c := range map[string]struct {
		q    any
		want []string
	}{
		"nothing":                   {object{}, []string{"subject: is missing", "action: is missing", "resource: is missing"}},
		"empty entities":            {object{"subject": object{}, "action": object{}, "resource": object{}}, []string{"subject.type: is missing", "subject.id: is missing", "action.name: is missing", "resource.type: is missing", "resource.id: is missing"}},
		"other kinds":               {object{"subject": "alice", "action": 1, "resource": []any{}, "context": true}, []string{"subject: must be an object", "action: must be an object", "resource: must be an object", "context: must be an object"}},
		"nulls":                     {object{"subject": nil, "action": object{"name": nil}, "resource": project}, []string{"subject: is missing", "action.name: is missing"}},
		"other kinds inside":        {object{"subject": object{"type": 1, "id": object{}, "properties": "x"}, "action": object{"name": 123, "properties": 1}, "resource": object{"type": true, "id": 1.5, "properties": []any{}}}, []string{"subject.type: must be a string", "subject.id: must be a string", "subject.properties: must be an object", "action.name: must be a string", "action.properties: must be an object", "resource.type: must be a string", "resource.id: must be a string", "resource.properties: must be an object"}},
		"empty texts":               {question(entity("", ""), "", entity("", "")), []string{"subject.type: must not be empty", "subject.id: must not be empty", "action.name: must not be empty", "resource.type: must not be empty", "resource.id: must not be empty"}},
		"malformed action":          {but("action", object{"name": "can_read"}), []string{"action.name: must have the form"}},
		"pattern as action":         {but("action", object{"name": "project:*:read"}), []string{"action.name: must have the form"}},
		"ill-typed account":         {but("resource", object{"type": "project", "id": s.Project, "properties": object{"account_id": 1}}), []string{"resource.properties.account_id: must be a string"}},
		"ill-typed context account": {but("context", object{"account_id": []any{}}), []string{"context.account_id: must be a string"}},
		"malformed account":         {resource("account", "a b"), []string{"resource.id: must be 1 to 128"}},
		"malformed context account": {but("context", object{"account_id": "a/b"}), []string{"context.account_id: must be 1 to 128"}},
		"ill-typed project":         {but("resource", object{"type": "x", "id": "1", "properties": object{"project_id": 7}}), []string{"resource.properties.project_id: must be a string"}},
		"ill-typed own project":     {but("resource", object{"type": "project", "id": s.Project, "properties": object{"project_id": 7}}), []string{"resource.properties.project_id: must be a string"}},
		"malformed project":         {resource("project", "p/../q"), []string{"resource.id: must be 1 to 128"}},
		"malformed project inside":  {resource("x", "1", "project_id", "p/q"), []string{"resource.properties.project_id: must be 1 to 128"}},
		"type of two segments":      {resource("a/b", "1", "project_id", s.Project), []string{"resource.type: must be one segment"}},
		"id of two segments":        {resource("x", "1/2", "project_id", s.Project), []string{"resource.id: must be one segment"}},
		"dots as id":                {resource("x", "..", "project_id", s.Project), []string{"resource.id: the path holds a . or .. segment"}},
		"a place as type":           {resource("accounts", "1", "project_id", s.Project), []string{"resource.id: the path is ambiguous"}},
		"path with a query":         {resource("path", "x?y"), []string{"resource.id: the path holds a ?"}},
		"path with dots":            {resource("path", "x/%2e%2e/y"), []string{"resource.id: the path holds an encoded ."}},
		"path with a slash first":   {resource("path", "/x"), []string{"resource.id: the path holds an empty segment"}},
		"path of 2049 bytes":        {resource("path", strings.Repeat("a", 2049)), []string{"resource.id: the path is longer"}},
		"route without a slash":     {object{"subject": subject, "action": object{"name": "GET"}, "resource": entity("route", "x")}, []string{"resource.id: the path must begin with /"}},
		"route of two hosts":        {object{"subject": subject, "action": object{"name": "GET"}, "resource": entity("route", "/x", "host", "a.example, b.example")}, []string{"resource.properties.host: must be the name of one host"}},
		"route of no host's name":   {object{"subject": subject, "action": object{"name": "GET"}, "resource": object{"type": "route", "id": "/x", "properties": object{"host": 1}}}, []string{"resource.properties.host: must be the name of one host"}},
		"route with a query":        {object{"subject": subject, "action": object{"name": "GET"}, "resource": entity("route", "/x?y")}, []string{"resource.id: the path holds a ?"}},
		"no method":                 {object{"subject": subject, "action": object{"name": "get /"}, "resource": entity("route", "/x")}, []string{"action.name: must be an HTTP method"}},
		"a list":                    {[]any{good}, []string{"must be an object"}},
	} {
		r := oddly(t, s.Scene, pathEvaluation, marshalled(t, c.q))
		got := problems(t, r)
		if r.Status != 400 || len(got) != len(c.want) {
			t.Errorf("%s: %d %s", name, r.Status, r.Raw)
			continue
		}
		for i, want := range c.want {
			if !slices.ContainsFunc(got, func(p string) bool { return strings.HasPrefix(p, want) }) {
				t.Errorf("%s: no %q in %q (%d)", name, want, got, i)
			}
		}
		batch := oddly(t, s.Scene, pathEvaluations, `{"evaluations":[`+marshalled(t, good)+`,`+marshalled(t, c.q)+`,`+marshalled(t, good)+`]}`)
		if got := decisions(t, batch); got != "yes 400 yes" {
			t.Errorf("%s in a batch: %s", name, batch.Raw)
		}
		message, _ := harness.At(batch.Body, "evaluations", 1, "context", "error", "message").(string)
		for _, want := range c.want {
			if !strings.Contains(message, want) {
				t.Errorf("%s in a batch: no %q in %q", name, want, message)
			}
		}
	}
}

// TestEvaluationRefusesTheRequest: what is wrong with the body as JSON or with how it is sent is 400 for
// the whole request, of a batch too.
func TestEvaluationRefusesTheRequest(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	good := marshalled(t, question(entity("user", s.Admin), "project:instance:read", entity("project", s.Project)))
	inside := func(text string) string { return strings.Replace(good, `{"name":`, `{`+text+`,"name":`, 1) }
	for _, path := range []string{"/access/v1/evaluation", "/access/v1/evaluations"} {
		for name, c := range map[string]struct{ body, contentType, target string }{
			"empty":                {"", "application/json", path},
			"no JSON":              {"{", "application/json", path},
			"two values":           {good + good, "application/json", path},
			"a name twice":         {inside(`"x":1,"x":2`), "application/json", path},
			"a name twice, deep":   {inside(`"properties":{"a":[{"b":1,"\u0062":2}]}`), "application/json", path},
			"account twice":        {strings.Replace(good, `{"action"`, `{"context":{"account_id":"a","account_id":"b"},"action"`, 1), "application/json", path},
			"invalid UTF-8":        {inside("\"x\":\"\xff\""), "application/json", path},
			"lone surrogate":       {inside(`"x":"\ud800"`), "application/json", path},
			"NUL":                  {inside(`"x":"\u0000"`), "application/json", path},
			"NUL in a name":        {inside(`"\u0000":1`), "application/json", path},
			"33 levels":            {inside(`"x":` + strings.Repeat("[", 31) + strings.Repeat("]", 31)), "application/json", path},
			"other media type":     {good, "text/plain", path},
			"JSON by another one":  {good, "application/jsonx", path},
			"no media type":        {good, "", path},
			"a query":              {good, "application/json", path + "?x=1"},
			"malformed parameters": {good, "application/json; charset", path},
		} {
			headers := []string{"X-Request-ID", "r-1"}
			if c.contentType != "" {
				headers = append(headers, "Content-Type", c.contentType)
			}
			if r := callRaw(t, s.URL, c.target, s.Checker, c.body, headers...); r.Status != 400 || len(problems(t, r)) == 0 || r.Header.Get("X-Request-ID") != "r-1" {
				t.Errorf("%s, %s: %d %s", path, name, r.Status, r.Raw)
			}
		}
		for name, headers := range map[string][]string{
			"encoded": {"Content-Type", "application/json", "Content-Encoding", "identity"}, "consistency": {"Content-Type", "application/json", "X-Consistency", "weak"},
		} {
			if r := callRaw(t, s.URL, path, s.Checker, good, headers...); r.Status != 400 {
				t.Errorf("%s, %s: %d %s", path, name, r.Status, r.Raw)
			}
		}
		if r := callRaw(t, s.URL, path, s.Checker, good, "Content-Type", "application/json; charset=utf-16"); r.Status != 415 || len(problems(t, r)) > 0 {
			t.Errorf("%s in UTF-16: %d %s", path, r.Status, r.Raw)
		}
		for _, contentType := range []string{"application/json; charset=utf-8", "Application/JSON"} {
			if r := callRaw(t, s.URL, path, s.Checker, inside(`"x":{"y":[1,null]}`), "Content-Type", contentType); r.Status != 200 || r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s, %s: %d %s", path, contentType, r.Status, r.Raw)
			}
		}
		if r := harness.Call(t, "GET", s.URL+path, s.Checker, ""); r.Status != 405 || r.Header.Get("Allow") != "POST" {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
		large := strings.Replace(good, `{"name"`, `{"x":"`+strings.Repeat("x", 1<<20)+`","name"`, 1)
		if r := harness.Call(t, "POST", s.URL+path, s.Checker, large); r.Status != 413 {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
	}
}

// TestUnknownMembersAreIgnored in every object of a request.
func TestUnknownMembersAreIgnored(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	more := object{"x": []any{1.5, nil, object{"y": "z"}}, "account_id": 1}
	text := marshalled(t, more)
	body := fmt.Sprintf(`{"resource":{"more":%[1]s,"id":%[2]q,"type":"project","properties":{"more":%[1]s}},"more":%[1]s,"context":{"more":%[1]s},"page":1,
		"action":{"more":%[1]s,"properties":{"account_id":%[1]s},"name":"project:instance:read"},"subject":{"properties":{"x":1},"more":%[1]s,"id":%[3]q,"type":"user"}}`, text, s.Project, s.Admin)
	if r := harness.Call(t, "POST", s.URL+"/access/v1/evaluation", s.Checker, body); r.Body["decision"] != true {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	batch := `{"options":{"more":1,"evaluations_semantic":"execute_all"},"further":2,"evaluations":[` + body + `,{"more":` + body + `}],` + body[1:]
	if got := decisions(t, harness.Call(t, "POST", s.URL+"/access/v1/evaluations", s.Checker, batch)); got != "yes yes" {
		t.Error(got)
	}
	// evaluations and options mean nothing to one question
	one := `{"evaluations":5,"options":"x",` + body[1:]
	if r := harness.Call(t, "POST", s.URL+"/access/v1/evaluation", s.Checker, one); r.Body["decision"] != true {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
}
