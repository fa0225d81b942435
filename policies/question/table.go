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
	term func(*Input) *ast.Term
	key  func([]byte, *Input) []byte
	// empty is the value for rules that do not read it.
	empty *ast.Term
}

// Table returns the rows in the order in which the input holds them. It is not to be changed.
func Table() []Row { return table() }

var table = sync.OnceValue(func() []Row {
	return []Row{
		// The kind is first. If the rows of a key depend on it, the keys of two kinds differ in their first row.
		word("principal.kind", Column, principalKinds(), (*Input).kind),
		word("principal.credential", Column, credentials(), (*Input).credential),
		words("principal.scopes", Open, nil, (*Input).scopes),
		words("principal.key_scopes", Column, keyScopes(), (*Input).keyScopes),
		word("principal.id", Text, nil, func(input *Input) string { return input.q.Principal.ID }),
		word("principal.uuid", Text, nil, func(input *Input) string { return input.q.Principal.UUID }),
		word("principal.account", Text, nil, func(input *Input) string { return input.q.Principal.AccountID }),
		word("action.id", Open, nil, func(input *Input) string { return input.q.Action.ID }),
		word("action.scope", Open, nil, func(input *Input) string { return input.q.Action.Scope }),
		word("action.resource", Open, nil, func(input *Input) string { return input.q.Action.Resource }),
		word("action.verb", Open, nil, func(input *Input) string { return input.q.Action.Verb }),
		patterns(),
		word("route.name", Open, nil, func(input *Input) string { return input.route.Name }),
		words("route.access", Open, nil, func(input *Input) []string { return input.route.Access }),
		word("route.effect", Column, []string{"", resources.EffectRead, resources.EffectWrite}, func(input *Input) string { return input.route.Effect }),
		flag("account.named", func(input *Input) bool { return input.q.AccountID != "" }),
		flag("account.exists", func(input *Input) bool { return input.subject.AccountExists }),
		word("account.status", Column, accountStatuses(), func(input *Input) string { return input.subject.AccountStatus }),
		word("account.id", Text, nil, func(input *Input) string { return input.q.AccountID }),
		flag("subject.named", func(input *Input) bool { return input.subject.UserID != "" }),
		flag("subject.exists", func(input *Input) bool { return input.subject.UserExists }),
		word("subject.status", Column, userStatuses(), func(input *Input) string { return input.subject.UserStatus }),
		flag("subject.member", func(input *Input) bool { return input.subject.Member }),
		flag("subject.is_caller", (*Input).isCaller),
		{Path: "subject.here", Kind: Open, Type: "array", term: (*Input).hereTerm, key: func(b []byte, input *Input) []byte { return input.appendHere(b) }, empty: ast.ArrayTerm()},
		word("subject.id", Text, nil, func(input *Input) string { return input.subject.UserID }),
		{Path: "subject.assignments", Kind: Text, Type: "object", term: (*Input).assignments, key: func(b []byte, input *Input) []byte { return input.appendHeld(b) }, empty: ast.InternedEmptyObject},
		{Path: "subject.roles", Kind: Text, Type: "object", term: (*Input).roles, key: func(b []byte, input *Input) []byte { return input.appendHeld(b) }, empty: ast.InternedEmptyObject},
		flag("agent.named", func(input *Input) bool { return input.q.Agent != nil }),
		flag("agent.exists", func(input *Input) bool { return input.agent().Exists }),
		word("agent.status", Column, agentStatuses(), func(input *Input) string { return input.agent().Status }),
		flag("agent.delegation_covers", func(input *Input) bool { return input.agent().Covered }),
		word("target.level", Column, levels(), (*Input).level),
		flag("target.same_account", (*Input).sameAccount),
		word("target.project_state", Column, projectStates(), (*Input).projectState),
		word("target.kind", Open, nil, (*Input).targetKind),
		word("target.about", Column, abouts(), (*Input).namedUser),
		word("target.account", Text, nil, func(input *Input) string { return input.q.Target.AccountID }),
		word("target.project", Text, nil, func(input *Input) string { return input.q.Target.ProjectID }),
		word("target.resource", Text, nil, func(input *Input) string { return input.q.Target.Resource }),
		word("target.rest", Text, nil, func(input *Input) string { return input.q.Target.Rest }),
		word("target.user", Text, nil, func(input *Input) string { return input.q.Target.UserID }),
		words("grant.permissions", Open, nil, func(input *Input) []string { return input.grant().Permissions }),
		number("grant.until", Text, func(input *Input) int64 { return int64(EndOf(input.grant().Until)) }),
		number("clock.hour", Column, func(input *Input) int64 { return int64(input.time().Hour()) }),
		word("clock.weekday", Column, weekdays(), func(input *Input) string { return input.time().Weekday().String() }),
		number("now", Text, func(input *Input) int64 { return int64(input.q.Now) }),
	}
})

// word returns a row whose value is a string. One that a column does not know is the empty string.
func word(path string, kind Kind, values []string, value func(*Input) string) Row {
	if kind == Column {
		free := value
		value = func(input *Input) string { return wordAmong(values, free(input)) }
	}
	return Row{
		Path: path, Kind: kind, Values: values, Type: "string", empty: ast.InternedEmptyString,
		term: func(input *Input) *ast.Term { return term(value(input)) },
		key:  func(b []byte, input *Input) []byte { return appendText(b, value(input)) },
	}
}

// words returns a row whose value is a set: an object with the value true for each member. A column leaves out the
// members that it does not know.
func words(path string, kind Kind, values []string, value func(*Input) []string) Row {
	return Row{
		Path: path, Kind: kind, Values: values, Type: "object", empty: ast.InternedEmptyObject,
		term: func(input *Input) *ast.Term {
			members := value(input)
			if kind == Column {
				members = slices.DeleteFunc(slices.Clone(members), func(m string) bool { return !slices.Contains(values, m) })
			}
			return set(members)
		},
		key: func(b []byte, input *Input) []byte { return appendTexts(b, value(input)) },
	}
}

func flag(path string, value func(*Input) bool) Row {
	return Row{
		Path: path, Kind: Column, Type: "boolean", empty: ast.InternedTerm(false),
		term: func(input *Input) *ast.Term { return ast.InternedTerm(value(input)) },
		key:  func(b []byte, input *Input) []byte { return appendFlag(b, value(input)) },
	}
}

func number(path string, kind Kind, value func(*Input) int64) Row {
	return Row{
		Path: path, Kind: kind, Type: "integer", empty: ast.InternedTerm(0),
		term: func(input *Input) *ast.Term { return integer(value(input)) },
		key:  func(b []byte, input *Input) []byte { return appendNumber(b, value(input)) },
	}
}

// patterns returns the row of the action's eight generalisations, which are made of its id and its parts.
func patterns() Row {
	return Row{
		Path: "action.patterns", Kind: Open, Type: "array", empty: ast.ArrayTerm(),
		term: func(input *Input) *ast.Term {
			if input.q.Action.ID == "" {
				return ast.ArrayTerm()
			}
			all := input.q.Action.Patterns()
			return list(all[:])
		},
		key: func(b []byte, input *Input) []byte {
			a := &input.q.Action
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
