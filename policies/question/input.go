package question

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// Never is the end of what has none: the last millisecond of the year 9999, the last that a time in JSON can name.
const Never resources.Time = 253_402_300_799_999

// EndOf returns the end of an assignment or a grant, Never for zero.
func EndOf(t resources.Time) resources.Time { return cmp.Or(t, Never) }

var (
	nobody  = sync.OnceValue(func() *resources.Subject { return &resources.Subject{} })
	noRoute = sync.OnceValue(func() *resources.Route { return &resources.Route{} })
	noAgent = sync.OnceValue(func() *resources.ActingAgent { return &resources.ActingAgent{} })
)

// subjectOf returns the facts about the user in question, empty ones for nobody's.
func subjectOf(q *resources.Question) *resources.Subject {
	if q.Facts.Subject == nil {
		return nobody()
	}
	return q.Facts.Subject
}

// routeOf returns the row at which the question is asked, an empty one for none.
func routeOf(q *resources.Question) *resources.Route {
	if q.Route == nil {
		return noRoute()
	}
	return q.Route
}

// KnownKind returns a principal's kind; one that is unknown is nobody.
func KnownKind(kind string) string {
	switch kind {
	case resources.PrincipalUser, resources.PrincipalService, resources.PrincipalAgent:
		return kind
	}
	return resources.PrincipalNone
}

func credentialOf(q *resources.Question) string {
	switch credential := q.Principal.Credential; credential {
	case resources.CredentialToken, resources.CredentialKey:
		return credential
	}
	return resources.CredentialNone
}

// scopesOf returns a service's scopes. No other caller has scopes, even if the question says so.
func scopesOf(q *resources.Question) []string {
	if q.Principal.Kind != resources.PrincipalService {
		return nil
	}
	return q.Principal.Scopes
}

// keyScopesOf returns an API key's scopes. No other credential has any, even if the question says so.
func keyScopesOf(q *resources.Question) []string {
	if q.Principal.Credential != resources.CredentialKey {
		return nil
	}
	return q.Principal.KeyScopes
}

// isCaller says whether the caller is a user with an id, and the user in question.
func isCaller(q *resources.Question) bool {
	p := &q.Principal
	return p.Kind == resources.PrincipalUser && p.ID != "" && p.ID == subjectOf(q).UserID
}

// targetLevel says how narrow the target is. A resource needs a project to be a place.
func targetLevel(q *resources.Question) string {
	switch t := &q.Target; {
	case t.ProjectID == "":
		return LevelAccount
	case t.Resource == "":
		return LevelProject
	}
	return LevelResource
}

// sameAccount says whether the path names no other account than the one in question.
func sameAccount(q *resources.Question) bool {
	return q.Target.AccountID == "" || q.Target.AccountID == q.AccountID
}

// projectState returns "" without a project; an unknown state is as good as absent.
func projectState(q *resources.Question) string {
	switch state := q.Facts.ProjectState; {
	case q.Target.ProjectID == "":
		return ""
	case state == resources.ProjectActive, state == resources.ProjectDeleting:
		return state
	}
	return resources.ProjectAbsent
}

// targetKind returns the first segment of the rest of the path.
func targetKind(q *resources.Question) string {
	kind, _, _ := strings.Cut(q.Target.Rest, "/")
	return kind
}

// namedUser returns whether the path names a user, and whether this user is the caller.
func namedUser(q *resources.Question) string {
	p, named := &q.Principal, q.Target.UserID
	switch user := p.Kind == resources.PrincipalUser; {
	case named == "":
		return AboutNobody
	case user && named == p.ID:
		return AboutCaller
	case user && named == p.UUID:
		return AboutCallerByUUID
	}
	return AboutOther
}

// grantOf returns what is to be granted; nothing is, where the question is another one.
func grantOf(q *resources.Question) resources.Grant {
	if q.Grant == nil {
		return resources.Grant{}
	}
	return *q.Grant
}

// agentOf returns the agent's part, an empty one for a question without an agent.
func agentOf(q *resources.Question) *resources.ActingAgent {
	if q.Agent == nil {
		return noAgent()
	}
	return q.Agent
}

func timeOf(q *resources.Question) time.Time { return time.UnixMilli(int64(q.Now)).UTC() }

// AllRows returns every row of the table, in its order.
func AllRows() []*Row { return RowsAt([]string{""}) }

// RowsAt returns the rows at some paths, above and below them, in the table's order; "" is the whole input.
func RowsAt(paths []string) (rows []*Row) {
	for i := range table() {
		row := &table()[i]
		if slices.ContainsFunc(paths, func(path string) bool { return PartOf(path, row.Path) || PartOf(row.Path, path) }) {
			rows = append(rows, row)
		}
	}
	return rows
}

// Term returns the input for a question with the values of these rows, which are in the table's order. The other rows have
// an empty value: every key is there, since a missing one would make a `not` true.
func Term(q *resources.Question, rows []*Row) *ast.Term {
	all := table()
	var root, part [][2]*ast.Term
	read, section := 0, ""
	for i := range all {
		value := all[i].empty
		if read < len(rows) && rows[read] == &all[i] {
			value = all[i].term(q)
			read++
		}
		outer, name, nested := strings.Cut(all[i].Path, ".")
		if outer != section && section != "" {
			root, part = append(root, field(section, ast.ObjectTerm(part...))), nil
		}
		if section = ""; !nested {
			root = append(root, field(outer, value))
			continue
		}
		section, part = outer, append(part, field(name, value))
	}
	if section != "" {
		root = append(root, field(section, ast.ObjectTerm(part...)))
	}
	return ast.ObjectTerm(root...)
}

// Value returns the value of the row at a path, which the table must have.
func Value(q *resources.Question, path string) *ast.Term {
	for _, row := range table() {
		if row.Path == path {
			return row.term(q)
		}
	}
	panic("question: no row " + path)
}

// AppendKey appends the values of these rows. Each says where it ends, so no two questions with unlike values share the
// bytes.
func AppendKey(b []byte, q *resources.Question, rows []*Row) []byte {
	for _, row := range rows {
		b = row.key(b, q)
	}
	return b
}
