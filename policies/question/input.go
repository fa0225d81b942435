package question

import (
	"cmp"
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

// Of returns the input for a question, which must stay as it is for as long as the input is used.
func Of(q *resources.Question) Input {
	in := Input{q: q, subject: q.Facts.Subject, route: q.Route}
	if in.subject == nil {
		in.subject = nobody()
	}
	if in.route == nil {
		in.route = noRoute()
	}
	return in
}

var (
	nobody  = sync.OnceValue(func() *resources.Subject { return &resources.Subject{} })
	noRoute = sync.OnceValue(func() *resources.Route { return &resources.Route{} })
	noAgent = sync.OnceValue(func() *resources.ActingAgent { return &resources.ActingAgent{} })
)

// Question returns the question.
func (in *Input) Question() *resources.Question { return in.q }

// kind returns the caller's kind; one that is unknown is nobody.
func (in *Input) kind() string {
	switch kind := in.q.Principal.Kind; kind {
	case resources.PrincipalUser, resources.PrincipalService:
		return kind
	}
	return resources.PrincipalNone
}

func (in *Input) credential() string {
	switch credential := in.q.Principal.Credential; credential {
	case resources.CredentialToken, resources.CredentialKey:
		return credential
	}
	return resources.CredentialNone
}

// scopes are those of a service; nobody else has any, whatever the caller filled in.
func (in *Input) scopes() []string {
	if in.q.Principal.Kind != resources.PrincipalService {
		return nil
	}
	return in.q.Principal.Scopes
}

// keyScopes are those of an API key; no other credential has any, whatever the caller filled in.
func (in *Input) keyScopes() []string {
	if in.q.Principal.Credential != resources.CredentialKey {
		return nil
	}
	return in.q.Principal.KeyScopes
}

// isCaller says whether the caller is a user with an id, and the user in question.
func (in *Input) isCaller() bool {
	p := &in.q.Principal
	return p.Kind == resources.PrincipalUser && p.ID != "" && p.ID == in.subject.UserID
}

// level says how narrow the target is. A resource of no project is no place.
func (in *Input) level() string {
	switch t := &in.q.Target; {
	case t.ProjectID == "":
		return LevelAccount
	case t.Resource == "":
		return LevelProject
	}
	return LevelResource
}

// sameAccount says whether the path names no other account than the one in question.
func (in *Input) sameAccount() bool {
	return in.q.Target.AccountID == "" || in.q.Target.AccountID == in.q.AccountID
}

// projectState returns "" without a project; an unknown state is as good as absent.
func (in *Input) projectState() string {
	switch state := in.q.Facts.ProjectState; {
	case in.q.Target.ProjectID == "":
		return ""
	case state == resources.ProjectActive, state == resources.ProjectDeleting:
		return state
	}
	return resources.ProjectAbsent
}

// targetKind returns the first segment of the rest of the path.
func (in *Input) targetKind() string {
	kind, _, _ := strings.Cut(in.q.Target.Rest, "/")
	return kind
}

// about says how the user whom the path names stands to the caller, who must be a user to be that user.
func (in *Input) about() string {
	p, named := &in.q.Principal, in.q.Target.UserID
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
func (in *Input) grant() resources.Grant {
	if in.q.Grant == nil {
		return resources.Grant{}
	}
	return *in.q.Grant
}

// agent returns the agent's part, an empty one for a question without an agent.
func (in *Input) agent() *resources.ActingAgent {
	if in.q.Agent == nil {
		return noAgent()
	}
	return in.q.Agent
}

func (in *Input) time() time.Time { return time.UnixMilli(int64(in.q.Now)).UTC() }

// Rows are some rows of the table, in its order.
type Rows []int

// All returns every row.
func All() Rows {
	rows := make(Rows, len(table()))
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// At returns the rows at some paths, above and below them; "" is the whole input.
func At(paths []string) (rows Rows) {
	for i := range table() {
		of := table()[i].Path
		for _, path := range paths {
			if within(path, of) || within(of, path) {
				rows = append(rows, i)
				break
			}
		}
	}
	return rows
}

// Term returns the input with the values of these rows. The other rows have an empty value: every key is there, since
// one that is missing would make a `not` true.
func (in *Input) Term(rows Rows) *ast.Term {
	all := table()
	var root, part [][2]*ast.Term
	read, section := 0, ""
	for i := range all {
		value := all[i].empty
		if read < len(rows) && rows[read] == i {
			value = all[i].term(in)
			read++
		}
		of, name, nested := strings.Cut(all[i].Path, ".")
		if of != section && section != "" {
			root, part = append(root, field(section, ast.ObjectTerm(part...))), nil
		}
		if section = ""; !nested {
			root = append(root, field(of, value))
			continue
		}
		section, part = of, append(part, field(name, value))
	}
	if section != "" {
		root = append(root, field(section, ast.ObjectTerm(part...)))
	}
	return ast.ObjectTerm(root...)
}

// Value returns the value of the row at a path, which the table must have.
func (in *Input) Value(path string) *ast.Term {
	for _, row := range table() {
		if row.Path == path {
			return row.term(in)
		}
	}
	panic("question: no row " + path)
}

// AppendKey appends the values of these rows. Each says where it ends, so no two inputs with unlike values share the bytes.
func (in *Input) AppendKey(b []byte, rows Rows) []byte {
	for _, i := range rows {
		b = table()[i].key(b, in)
	}
	return b
}
