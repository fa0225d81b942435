package engine

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// words are the terms that every input has, made once: the keys, and the values of
// closed vocabularies. They are never changed.
type words struct {
	values    map[string]*ast.Term
	yes, no   *ast.Term
	blank     *ast.Term // ""
	none      *ast.Term // {}
	noList    *ast.Term // []
	never     *ast.Term
	noAction  *ast.Term
	noGrant   *ast.Term
	noRoute   *ast.Term
	noSubject *preparedSubject
	// accounts and assignments are the same for many users.
	accounts    *prepared[accountParts]
	assignments *prepared[assignmentParts]
	k           inputKeys
}

// inputKeys are the keys of the parts that are built for each question.
type inputKeys struct {
	action, now, principal, route, account, subject, target, grant *ast.Term
	kind, id, uuid, scopes, credential, keyScopes                  *ast.Term
	project, projectState, resource, rest, user                    *ast.Term
	name, access, effect, permissions, until, exists, status       *ast.Term
	scope, verb, patterns, member, assignments, here, roles        *ast.Term
	role, custom, level, roleScope, roleStatus                     *ast.Term
	expires, running, allow, code, reason                          *ast.Term
}

func newWords() *words {
	t := ast.StringTerm
	w := &words{
		values: map[string]*ast.Term{},
		yes:    ast.BooleanTerm(true), no: ast.BooleanTerm(false), blank: t(""), none: ast.ObjectTerm(),
		noList: ast.ArrayTerm(), never: ast.NewTerm(millis(never)),
		accounts: newPrepared[accountParts](), assignments: newPrepared[assignmentParts](),
		k: inputKeys{
			action: t("action"), now: t("now"), principal: t("principal"), route: t("route"),
			account: t("account"), subject: t("subject"), target: t("target"), grant: t("grant"),
			kind: t("kind"), id: t("id"), uuid: t("uuid"), scopes: t("scopes"),
			credential: t("credential"), keyScopes: t("key_scopes"),
			project: t("project"), projectState: t("project_state"), resource: t("resource"), rest: t("rest"), user: t("user"),
			name: t("name"), access: t("access"), effect: t("effect"), permissions: t("permissions"),
			until: t("until"), exists: t("exists"), status: t("status"),
			scope: t("scope"), verb: t("verb"), patterns: t("patterns"), member: t("member"),
			assignments: t("assignments"), here: t("here"), roles: t("roles"), role: t("role"), custom: t("custom"),
			level: t("level"), roleScope: t("role_scope"), roleStatus: t("role_status"), expires: t("expires"), running: t("running"),
			allow: t("allow"), code: t("code"), reason: t("reason"),
		},
	}
	for _, v := range []string{
		resources.PrincipalNone, resources.PrincipalUser, resources.PrincipalService,
		resources.CredentialToken, resources.CredentialKey, resources.EffectRead, resources.EffectWrite,
		resources.ProjectActive, resources.ProjectDeleting, resources.ProjectAbsent,
		resources.StatusActive, resources.StatusInactive, resources.StatusSuspended, resources.StatusInvited,
		resources.RoleScopeAccount, resources.RoleScopeProject, resources.RoleScopeResource,
	} {
		w.values[v] = t(v)
	}
	w.noAction = w.action(resources.Action{})
	w.noRoute = w.route("", "", nil)
	w.noGrant = w.grantTerm(nil, 0)
	w.noSubject = w.prepare(&resources.Subject{})
	return w
}

// word is the term of a string that is likely to be one of a closed vocabulary.
func (w *words) word(s string) *ast.Term {
	if s == "" {
		return w.blank
	}
	if t, ok := w.values[s]; ok {
		return t
	}
	return ast.StringTerm(s)
}

func (w *words) boolean(b bool) *ast.Term {
	if b {
		return w.yes
	}
	return w.no
}

// set is {"a": true, …}: the form of everything that a policy looks up. Members
// given twice are one member; ast.NewObject would keep both.
func (w *words) set(members []string) *ast.Term {
	if len(members) == 0 {
		return w.none
	}
	members = slices.Clone(members)
	slices.Sort(members)
	members = slices.Compact(members)
	items := make([][2]*ast.Term, len(members))
	for i, m := range members {
		items[i] = [2]*ast.Term{ast.StringTerm(m), w.yes}
	}
	return settled(ast.ObjectTerm(items...))
}

// list is ["a", …], each member once: the form of what a policy goes through.
func (w *words) list(members []string) *ast.Term {
	members = slices.Clone(members)
	slices.Sort(members)
	members = slices.Compact(members)
	items := make([]*ast.Term, len(members))
	for i, m := range members {
		items[i] = ast.StringTerm(m)
	}
	return settled(ast.ArrayTerm(items...))
}

// never is the end of what has none: the last millisecond of the year 9999, the last
// that a time in JSON can name. A policy then compares one number, and a missing or
// zero end is one that has passed.
const never resources.Time = 253_402_300_799_999

// endOf is the end of what may have none.
func endOf(t resources.Time) resources.Time { return cmp.Or(t, never) }

func (w *words) end(t resources.Time) *ast.Term {
	if t == 0 {
		return w.never
	}
	return ast.NewTerm(millis(t))
}

func millis(t resources.Time) ast.Value { return ast.Number(strconv.FormatInt(int64(t), 10)) }

func (w *words) action(a resources.Action) *ast.Term {
	patterns := w.noList
	if a.ID != "" {
		all := a.Patterns()
		patterns = w.list(all[:])
	}
	return settled(ast.ObjectTerm(
		[2]*ast.Term{w.k.id, w.word(a.ID)}, [2]*ast.Term{w.k.scope, w.word(a.Scope)},
		[2]*ast.Term{w.k.resource, w.word(a.Resource)}, [2]*ast.Term{w.k.verb, w.word(a.Verb)},
		[2]*ast.Term{w.k.patterns, patterns},
	))
}

func (w *words) route(name, effect string, access []string) *ast.Term {
	return settled(ast.ObjectTerm(
		[2]*ast.Term{w.k.name, w.word(name)}, [2]*ast.Term{w.k.access, w.set(access)},
		[2]*ast.Term{w.k.effect, w.word(effect)},
	))
}

func (w *words) grantTerm(permissions []string, until resources.Time) *ast.Term {
	return ast.ObjectTerm(
		[2]*ast.Term{w.k.permissions, w.set(permissions)},
		[2]*ast.Term{w.k.until, w.end(until)},
	)
}

// settle sorts the keys of every object in v. OPA does so when they are first read
// in order; what many goroutines share is sorted before they see it, because some
// of OPA's methods read the keys without the guard that sorting has.
func settle(v ast.Value) {
	switch v := v.(type) {
	case ast.Object:
		v.Foreach(func(key, value *ast.Term) { settle(key.Value); settle(value.Value) })
	case *ast.Array:
		v.Foreach(func(t *ast.Term) { settle(t.Value) })
	case ast.Set:
		v.Foreach(func(t *ast.Term) { settle(t.Value) })
	}
}

func settled(t *ast.Term) *ast.Term {
	settle(t.Value)
	return t
}
