package question

import (
	"slices"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// Kind says how many values a row of the table has.
type Kind uint8

const (
	// Column is a row with few values, all of them known: words of the program and of the stores, yes and no.
	Column Kind = iota
	// Open is a row with any value, which the key of a verdict holds whole.
	Open
	// Text is a row with any value, which names somebody, some place or some time. The shipped rules read none.
	Text
)

// Row is one value of the input.
type Row struct {
	// Path is where the value stands below input, with a dot between its two parts.
	Path string
	Kind Kind
	// Values are those that a column of words can have.
	Values []string
	// Type is the value's type as a JSON schema names it.
	Type string
	term func(*resources.Question) *ast.Term
	key  func([]byte, *resources.Question) []byte
	// empty is the value for rules that do not read it.
	empty *ast.Term
}

// Table returns the rows in the order in which the input holds them. It is not to be changed.
func Table() []Row { return table() }

var table = sync.OnceValue(func() []Row {
	return []Row{
		// The kind is first. If the rows of a key depend on it, the keys of two kinds differ in their first row.
		word("principal.kind", Column, principalKinds(), func(q *resources.Question) string { return KnownKind(q.Principal.Kind) }),
		word("principal.credential", Column, credentials(), credentialOf),
		words("principal.scopes", Open, nil, scopesOf),
		words("principal.key_scopes", Column, keyScopes(), keyScopesOf),
		word("principal.id", Text, nil, func(q *resources.Question) string { return q.Principal.ID }),
		word("principal.uuid", Text, nil, func(q *resources.Question) string { return q.Principal.UUID }),
		word("principal.account", Text, nil, func(q *resources.Question) string { return q.Principal.AccountID }),
		word("action.id", Open, nil, func(q *resources.Question) string { return q.Action.ID }),
		word("action.scope", Open, nil, func(q *resources.Question) string { return q.Action.Scope }),
		word("action.resource", Open, nil, func(q *resources.Question) string { return q.Action.Resource }),
		word("action.verb", Open, nil, func(q *resources.Question) string { return q.Action.Verb }),
		patterns(),
		word("route.name", Open, nil, func(q *resources.Question) string { return routeOf(q).Name }),
		words("route.access", Open, nil, func(q *resources.Question) []string { return routeOf(q).Access }),
		word("route.effect", Column, []string{"", resources.EffectRead, resources.EffectWrite}, func(q *resources.Question) string { return routeOf(q).Effect }),
		flag("account.named", func(q *resources.Question) bool { return q.AccountID != "" }),
		flag("account.exists", func(q *resources.Question) bool { return subjectOf(q).AccountExists }),
		word("account.status", Column, accountStatuses(), func(q *resources.Question) string { return subjectOf(q).AccountStatus }),
		word("account.id", Text, nil, func(q *resources.Question) string { return q.AccountID }),
		flag("subject.named", func(q *resources.Question) bool { return subjectOf(q).UserID != "" }),
		flag("subject.exists", func(q *resources.Question) bool { return subjectOf(q).UserExists }),
		word("subject.status", Column, userStatuses(), func(q *resources.Question) string { return subjectOf(q).UserStatus }),
		flag("subject.member", func(q *resources.Question) bool { return subjectOf(q).Member }),
		flag("subject.is_caller", isCaller),
		{Path: "subject.here", Kind: Open, Type: "array", term: hereTerm, key: appendHere, empty: ast.ArrayTerm()},
		word("subject.id", Text, nil, func(q *resources.Question) string { return subjectOf(q).UserID }),
		{Path: "subject.assignments", Kind: Text, Type: "object", term: assignmentsTerm, key: appendHeld, empty: ast.InternedEmptyObject},
		{Path: "subject.roles", Kind: Text, Type: "object", term: rolesTerm, key: appendHeld, empty: ast.InternedEmptyObject},
		flag("agent.named", func(q *resources.Question) bool { return q.Agent != nil }),
		flag("agent.exists", func(q *resources.Question) bool { return agentOf(q).Exists }),
		word("agent.status", Column, agentStatuses(), func(q *resources.Question) string { return agentOf(q).Status }),
		flag("agent.delegation_covers", func(q *resources.Question) bool { return agentOf(q).Covered }),
		word("target.level", Column, levels(), targetLevel),
		flag("target.same_account", sameAccount),
		word("target.project_state", Column, projectStates(), projectState),
		word("target.kind", Open, nil, targetKind),
		word("target.about", Column, abouts(), namedUser),
		word("target.account", Text, nil, func(q *resources.Question) string { return q.Target.AccountID }),
		word("target.project", Text, nil, func(q *resources.Question) string { return q.Target.ProjectID }),
		word("target.resource", Text, nil, func(q *resources.Question) string { return q.Target.Resource }),
		word("target.rest", Text, nil, func(q *resources.Question) string { return q.Target.Rest }),
		word("target.user", Text, nil, func(q *resources.Question) string { return q.Target.UserID }),
		words("grant.permissions", Open, nil, func(q *resources.Question) []string { return grantOf(q).Permissions }),
		number("grant.until", Text, func(q *resources.Question) int64 { return int64(EndOf(grantOf(q).Until)) }),
		number("clock.hour", Column, func(q *resources.Question) int64 { return int64(timeOf(q).Hour()) }),
		word("clock.weekday", Column, weekdays(), func(q *resources.Question) string { return timeOf(q).Weekday().String() }),
		number("now", Text, func(q *resources.Question) int64 { return int64(q.Now) }),
	}
})

// word returns a row whose value is a string. One that a column does not know is the empty string.
func word(path string, kind Kind, values []string, value func(*resources.Question) string) Row {
	if kind == Column {
		free := value
		value = func(q *resources.Question) string { return wordAmong(values, free(q)) }
	}
	return Row{
		Path: path, Kind: kind, Values: values, Type: "string", empty: ast.InternedEmptyString,
		term: func(q *resources.Question) *ast.Term { return term(value(q)) },
		key:  func(b []byte, q *resources.Question) []byte { return appendText(b, value(q)) },
	}
}

// words returns a row whose value is a set: an object with the value true for each member. A column leaves out the
// members that it does not know.
func words(path string, kind Kind, values []string, value func(*resources.Question) []string) Row {
	return Row{
		Path: path, Kind: kind, Values: values, Type: "object", empty: ast.InternedEmptyObject,
		term: func(q *resources.Question) *ast.Term {
			members := value(q)
			if kind == Column {
				members = slices.DeleteFunc(slices.Clone(members), func(m string) bool { return !slices.Contains(values, m) })
			}
			return set(members)
		},
		key: func(b []byte, q *resources.Question) []byte { return appendTexts(b, value(q)) },
	}
}

func flag(path string, value func(*resources.Question) bool) Row {
	return Row{
		Path: path, Kind: Column, Type: "boolean", empty: ast.InternedTerm(false),
		term: func(q *resources.Question) *ast.Term { return ast.InternedTerm(value(q)) },
		key:  func(b []byte, q *resources.Question) []byte { return appendFlag(b, value(q)) },
	}
}

func number(path string, kind Kind, value func(*resources.Question) int64) Row {
	return Row{
		Path: path, Kind: kind, Type: "integer", empty: ast.InternedTerm(0),
		term: func(q *resources.Question) *ast.Term { return integer(value(q)) },
		key:  func(b []byte, q *resources.Question) []byte { return appendNumber(b, value(q)) },
	}
}

// patterns returns the row of the action's eight generalisations, which are made of its id and its parts.
func patterns() Row {
	return Row{
		Path: "action.patterns", Kind: Open, Type: "array", empty: ast.ArrayTerm(),
		term: func(q *resources.Question) *ast.Term {
			if q.Action.ID == "" {
				return ast.ArrayTerm()
			}
			all := q.Action.Patterns()
			return list(all[:])
		},
		key: func(b []byte, q *resources.Question) []byte {
			a := &q.Action
			return appendText(appendText(appendText(appendText(b, a.ID), a.Scope), a.Resource), a.Verb)
		},
	}
}

func principalKinds() []string {
	return []string{resources.PrincipalNone, resources.PrincipalUser, resources.PrincipalService, resources.PrincipalAgent}
}

func credentials() []string {
	return []string{resources.CredentialNone, resources.CredentialToken, resources.CredentialKey}
}

func keyScopes() []string { return []string{resources.KeyScopeRead, resources.KeyScopeWrite} }

func accountStatuses() []string {
	return []string{"", resources.StatusActive, resources.StatusSuspended}
}

func userStatuses() []string {
	return []string{"", resources.StatusActive, resources.StatusInactive, resources.StatusSuspended, resources.StatusInvited}
}

func agentStatuses() []string { return append([]string{""}, resources.AgentStatuses()...) }

func roleStatuses() []string { return []string{"", resources.StatusActive, resources.StatusInactive} }

func roleScopes() []string {
	return []string{"", resources.RoleScopeAccount, resources.RoleScopeProject, resources.RoleScopeResource}
}

func projectStates() []string {
	return []string{"", resources.ProjectActive, resources.ProjectDeleting, resources.ProjectAbsent}
}

// Values of target.level.
const (
	LevelAccount  = "account"
	LevelProject  = "project"
	LevelResource = "resource"
)

func levels() []string { return []string{LevelAccount, LevelProject, LevelResource} }

// Values of target.about.
const (
	AboutNobody       = ""
	AboutCaller       = "caller"
	AboutCallerByUUID = "caller_by_uuid"
	AboutOther        = "other"
)

func abouts() []string { return []string{AboutNobody, AboutCaller, AboutCallerByUUID, AboutOther} }

func weekdays() []string {
	var names []string
	for day := time.Sunday; day <= time.Saturday; day++ {
		names = append(names, day.String())
	}
	return names
}
