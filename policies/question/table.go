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
		// The kind is first: where it decides which rows a key holds, the keys of two kinds differ in their first row.
		word("principal.kind", Column, principalKinds(), (*Input).kind),
		word("principal.credential", Column, credentials(), (*Input).credential),
		words("principal.scopes", Open, nil, (*Input).scopes),
		words("principal.key_scopes", Column, keyScopes(), (*Input).keyScopes),
		word("principal.id", Text, nil, func(in *Input) string { return in.q.Principal.ID }),
		word("principal.uuid", Text, nil, func(in *Input) string { return in.q.Principal.UUID }),
		word("principal.account", Text, nil, func(in *Input) string { return in.q.Principal.AccountID }),
		word("action.id", Open, nil, func(in *Input) string { return in.q.Action.ID }),
		word("action.scope", Open, nil, func(in *Input) string { return in.q.Action.Scope }),
		word("action.resource", Open, nil, func(in *Input) string { return in.q.Action.Resource }),
		word("action.verb", Open, nil, func(in *Input) string { return in.q.Action.Verb }),
		patterns(),
		word("route.name", Open, nil, func(in *Input) string { return in.route.Name }),
		words("route.access", Open, nil, func(in *Input) []string { return in.route.Access }),
		word("route.effect", Column, []string{"", resources.EffectRead, resources.EffectWrite}, func(in *Input) string { return in.route.Effect }),
		flag("account.named", func(in *Input) bool { return in.q.AccountID != "" }),
		flag("account.exists", func(in *Input) bool { return in.subject.AccountExists }),
		word("account.status", Column, accountStatuses(), func(in *Input) string { return in.subject.AccountStatus }),
		word("account.id", Text, nil, func(in *Input) string { return in.q.AccountID }),
		flag("subject.named", func(in *Input) bool { return in.subject.UserID != "" }),
		flag("subject.exists", func(in *Input) bool { return in.subject.UserExists }),
		word("subject.status", Column, userStatuses(), func(in *Input) string { return in.subject.UserStatus }),
		flag("subject.member", func(in *Input) bool { return in.subject.Member }),
		flag("subject.is_caller", (*Input).isCaller),
		{Path: "subject.here", Kind: Open, Type: "array", term: (*Input).hereTerm, key: func(b []byte, in *Input) []byte { return in.appendHere(b) }, empty: ast.ArrayTerm()},
		word("subject.id", Text, nil, func(in *Input) string { return in.subject.UserID }),
		{Path: "subject.assignments", Kind: Text, Type: "object", term: (*Input).assignments, key: func(b []byte, in *Input) []byte { return in.appendHeld(b) }, empty: ast.InternedEmptyObject},
		{Path: "subject.roles", Kind: Text, Type: "object", term: (*Input).roles, key: func(b []byte, in *Input) []byte { return in.appendHeld(b) }, empty: ast.InternedEmptyObject},
		flag("agent.named", func(in *Input) bool { return in.q.Agent != nil }),
		flag("agent.exists", func(in *Input) bool { return in.agent().Exists }),
		word("agent.status", Column, agentStatuses(), func(in *Input) string { return in.agent().Status }),
		flag("agent.delegation_covers", func(in *Input) bool { return in.agent().Covered }),
		word("target.level", Column, levels(), (*Input).level),
		flag("target.same_account", (*Input).sameAccount),
		word("target.project_state", Column, projectStates(), (*Input).projectState),
		word("target.kind", Open, nil, (*Input).targetKind),
		word("target.about", Column, abouts(), (*Input).about),
		word("target.account", Text, nil, func(in *Input) string { return in.q.Target.AccountID }),
		word("target.project", Text, nil, func(in *Input) string { return in.q.Target.ProjectID }),
		word("target.resource", Text, nil, func(in *Input) string { return in.q.Target.Resource }),
		word("target.rest", Text, nil, func(in *Input) string { return in.q.Target.Rest }),
		word("target.user", Text, nil, func(in *Input) string { return in.q.Target.UserID }),
		words("grant.permissions", Open, nil, func(in *Input) []string { return in.grant().Permissions }),
		number("grant.until", Text, func(in *Input) int64 { return int64(EndOf(in.grant().Until)) }),
		number("clock.hour", Column, func(in *Input) int64 { return int64(in.time().Hour()) }),
		word("clock.weekday", Column, weekdays(), func(in *Input) string { return in.time().Weekday().String() }),
		number("now", Text, func(in *Input) int64 { return int64(in.q.Now) }),
	}
})

// word returns a row whose value is a string. One that a column does not know is the empty string.
func word(path string, kind Kind, values []string, of func(*Input) string) Row {
	if kind == Column {
		free := of
		of = func(in *Input) string { return wordAmong(values, free(in)) }
	}
	return Row{
		Path: path, Kind: kind, Values: values, Type: "string", empty: ast.InternedEmptyString,
		term: func(in *Input) *ast.Term { return term(of(in)) },
		key:  func(b []byte, in *Input) []byte { return appendText(b, of(in)) },
	}
}

// words returns a row whose value is a set: an object with the value true for each member. A column leaves out the
// members that it does not know.
func words(path string, kind Kind, values []string, of func(*Input) []string) Row {
	return Row{
		Path: path, Kind: kind, Values: values, Type: "object", empty: ast.InternedEmptyObject,
		term: func(in *Input) *ast.Term {
			members := of(in)
			if kind == Column {
				members = slices.DeleteFunc(slices.Clone(members), func(m string) bool { return !slices.Contains(values, m) })
			}
			return set(members)
		},
		key: func(b []byte, in *Input) []byte { return appendTexts(b, of(in)) },
	}
}

func flag(path string, of func(*Input) bool) Row {
	return Row{
		Path: path, Kind: Column, Type: "boolean", empty: ast.InternedTerm(false),
		term: func(in *Input) *ast.Term { return ast.InternedTerm(of(in)) },
		key:  func(b []byte, in *Input) []byte { return appendFlag(b, of(in)) },
	}
}

func number(path string, kind Kind, of func(*Input) int64) Row {
	return Row{
		Path: path, Kind: kind, Type: "integer", empty: ast.InternedTerm(0),
		term: func(in *Input) *ast.Term { return integer(of(in)) },
		key:  func(b []byte, in *Input) []byte { return appendNumber(b, of(in)) },
	}
}

// patterns returns the row of the action's eight generalisations, which are made of its id and its parts.
func patterns() Row {
	return Row{
		Path: "action.patterns", Kind: Open, Type: "array", empty: ast.ArrayTerm(),
		term: func(in *Input) *ast.Term {
			if in.q.Action.ID == "" {
				return ast.ArrayTerm()
			}
			all := in.q.Action.Patterns()
			return list(all[:])
		},
		key: func(b []byte, in *Input) []byte {
			a := &in.q.Action
			return appendText(appendText(appendText(appendText(b, a.ID), a.Scope), a.Resource), a.Verb)
		},
	}
}

func principalKinds() []string {
	return []string{resources.PrincipalNone, resources.PrincipalUser, resources.PrincipalService}
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
