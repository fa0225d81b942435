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

// Input is a question with the facts about it. Every row of the table is a function of it.
type Input struct {
	q       *resources.Question
	subject *resources.Subject // never nil
	route   *resources.Route   // never nil
}

// NewInput returns the input for a question, which must stay as it is for as long as the input is used.
func NewInput(q *resources.Question) Input {
	input := Input{q: q, subject: q.Facts.Subject, route: q.Route}
	if input.subject == nil {
		input.subject = nobody()
	}
	if input.route == nil {
		input.route = noRoute()
	}
	return input
}

var (
	nobody  = sync.OnceValue(func() *resources.Subject { return &resources.Subject{} })
	noRoute = sync.OnceValue(func() *resources.Route { return &resources.Route{} })
	noAgent = sync.OnceValue(func() *resources.ActingAgent { return &resources.ActingAgent{} })
)

// Question returns the question.
func (input *Input) Question() *resources.Question { return input.q }

// kind returns the caller's kind; one that is unknown is nobody.
func (input *Input) kind() string {
	switch kind := input.q.Principal.Kind; kind {
	case resources.PrincipalUser, resources.PrincipalService, resources.PrincipalAgent:
		return kind
	}
	return resources.PrincipalNone
}

func (input *Input) credential() string {
	switch credential := input.q.Principal.Credential; credential {
	case resources.CredentialToken, resources.CredentialKey:
		return credential
	}
	return resources.CredentialNone
}

// scopes returns a service's scopes. No other caller has scopes, even if the question says so.
func (input *Input) scopes() []string {
	if input.q.Principal.Kind != resources.PrincipalService {
		return nil
	}
	return input.q.Principal.Scopes
}

// keyScopes returns an API key's scopes. No other credential has any, even if the question says so.
func (input *Input) keyScopes() []string {
	if input.q.Principal.Credential != resources.CredentialKey {
		return nil
	}
	return input.q.Principal.KeyScopes
}

// isCaller says whether the caller is a user with an id, and the user in question.
func (input *Input) isCaller() bool {
	p := &input.q.Principal
	return p.Kind == resources.PrincipalUser && p.ID != "" && p.ID == input.subject.UserID
}

// level says how narrow the target is. A resource needs a project to be a place.
func (input *Input) level() string {
	switch t := &input.q.Target; {
	case t.ProjectID == "":
		return LevelAccount
	case t.Resource == "":
		return LevelProject
	}
	return LevelResource
}

// sameAccount says whether the path names no other account than the one in question.
func (input *Input) sameAccount() bool {
	return input.q.Target.AccountID == "" || input.q.Target.AccountID == input.q.AccountID
}

// projectState returns "" without a project; an unknown state is as good as absent.
func (input *Input) projectState() string {
	switch state := input.q.Facts.ProjectState; {
	case input.q.Target.ProjectID == "":
		return ""
	case state == resources.ProjectActive, state == resources.ProjectDeleting:
		return state
	}
	return resources.ProjectAbsent
}

// targetKind returns the first segment of the rest of the path.
func (input *Input) targetKind() string {
	kind, _, _ := strings.Cut(input.q.Target.Rest, "/")
	return kind
}

// namedUser returns whether the path names a user, and whether this user is the caller.
func (input *Input) namedUser() string {
	p, named := &input.q.Principal, input.q.Target.UserID
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

// grant returns what is to be granted; nothing is, where the question is another one.
func (input *Input) grant() resources.Grant {
	if input.q.Grant == nil {
		return resources.Grant{}
	}
	return *input.q.Grant
}

// agent returns the agent's part, an empty one for a question without an agent.
func (input *Input) agent() *resources.ActingAgent {
	if input.q.Agent == nil {
		return noAgent()
	}
	return input.q.Agent
}

func (input *Input) time() time.Time { return time.UnixMilli(int64(input.q.Now)).UTC() }

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

// Term returns the input with the values of these rows, which are in the table's order. The other rows have an empty value: every key is there, since
// one that is missing would make a `not` true.
func (input *Input) Term(rows []*Row) *ast.Term {
	all := table()
	var root, part [][2]*ast.Term
	read, section := 0, ""
	for i := range all {
		value := all[i].empty
		if read < len(rows) && rows[read] == &all[i] {
			value = all[i].term(input)
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
func (input *Input) Value(path string) *ast.Term {
	for _, row := range table() {
		if row.Path == path {
			return row.term(input)
		}
	}
	panic("question: no row " + path)
}

// AppendKey appends the values of these rows. Each says where it ends, so no two inputs with unlike values share the bytes.
func (input *Input) AppendKey(b []byte, rows []*Row) []byte {
	for _, row := range rows {
		b = row.key(b, input)
	}
	return b
}
