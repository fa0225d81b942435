package doors

import (
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// ReadQuestion reads a question from the path and the headers, with all of its problems. The path behind the door's own
// is the one in question. X-User-ID, X-Account-ID and X-Action name the rest; there is no body.
func ReadQuestion(c Call) (resources.Question, []resources.Problem) {
	problems := c.Problems
	note := func(field, text string) { problems = append(problems, resources.Problem{Field: field, Text: text}) }
	target, texts := ReadPlace(c)
	for _, text := range texts {
		note("path", text)
	}
	identity := func(name string) string {
		value, problem := c.Headers.Identity(name)
		switch {
		case problem != "":
			note(name, problem)
		case value == "":
			note(name, "is missing")
		}
		return value
	}
	subject, account, named := identity("X-User-ID"), identity("X-Account-ID"), identity("X-Action")
	for _, id := range [...]struct{ name, value string }{{"X-User-ID", subject}, {"X-Account-ID", account}} {
		if id.value != "" && !resources.ValidID(id.value) {
			note(id.name, resources.IDRule)
		}
	}
	action, err := resources.ParseAction(named)
	if err != nil && named != "" {
		note("X-Action", err.Error())
	}
	if len(c.Body) > 0 || c.Encoded {
		note("body", "must be empty; everything is in the path and the headers")
	}
	return resources.Question{SubjectID: subject, AccountID: account, Action: action, Target: target}, problems
}

// ReadPlace reads the place behind the door's own path, or gives what is wrong with the path and the query.
func ReadPlace(c Call) (resources.Target, []string) {
	problems := route.PathProblems(c.Path)
	if c.Path == "" {
		problems = []string{"is empty; the path in question follows " + strings.TrimSuffix(c.Row.Route.Path, "{proxy+}")}
	}
	if c.HasQuery {
		problems = append(problems, "holds a ?; a query is not part of what is authorized")
	}
	if len(problems) > 0 {
		return resources.Target{}, problems
	}
	target, problem := route.ParseTarget(c.Path)
	if problem != "" {
		return resources.Target{}, []string{problem}
	}
	return target, nil
}
