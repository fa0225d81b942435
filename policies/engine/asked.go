package engine

import (
	"cmp"

	"github.com/portcullis-authz/portcullis/resources"
)

// leaf is one value of the input by which the key of a verdict can tell questions apart.
type leaf uint8

// The leaves. Those before textLeaves are strings, those before listLeaves lists.
const (
	principalKind leaf = iota
	principalID
	principalUUID
	principalAccount
	principalCredential
	actionID
	actionScope
	actionResource
	actionVerb
	routeName
	routeEffect
	targetAccount
	targetProject
	targetProjectState
	targetResource
	targetRest
	targetUser
	accountNamed // the account in question where there are no facts of it
	textLeaves
)

const (
	principalScopes leaf = textLeaves + iota
	principalKeyScopes
	routeAccess
	grantPermissions
	listLeaves
)

const (
	grantUntil leaf = listLeaves + iota
	subjectFacts
	period // what is left of the time: which of the subject's assignments have ended
	here   // what is left of the place: where of it the subject holds a role
	allLeaves
)

// asked is a question or a grant in the form from which both are made, the input and
// the key of its verdict: what the policy is told is then what the key names.
type asked struct {
	texts     [textLeaves]string
	lists     [listLeaves - textLeaves][]string
	subject   *resources.Subject
	accountID string
	until     resources.Time
	now       resources.Time
}

func (a *asked) list(l leaf) []string { return a.lists[l-textLeaves] }

func (a *asked) question(q *resources.Question) {
	a.principal(&q.Principal)
	a.target(&q.Target, q.Facts.ProjectState)
	a.about(q.AccountID, q.Facts.Subject, q.Now)
	a.texts[actionID], a.texts[actionScope] = q.Action.ID, q.Action.Scope
	a.texts[actionResource], a.texts[actionVerb] = q.Action.Resource, q.Action.Verb
	a.texts[routeName], a.texts[routeEffect] = q.Route.Name, q.Route.Effect
	a.lists[routeAccess-textLeaves] = q.Route.Access
}

// grant asks of no action and no route. A place of a grant is a resource itself.
func (a *asked) grant(g *resources.Grant) {
	a.principal(&g.Principal)
	a.target(&resources.Target{ProjectID: g.ProjectID, Resource: g.ResourceID, Rest: g.ResourceID}, g.Facts.ProjectState)
	a.about(g.AccountID, g.Facts.Subject, g.Now)
	a.lists[grantPermissions-textLeaves], a.until = g.Permissions, g.Until
}

// principal gives scopes to services only and key scopes to keys only, whatever
// the caller filled in.
func (a *asked) principal(p *resources.Principal) {
	a.texts[principalKind] = cmp.Or(p.Kind, resources.PrincipalNone)
	a.texts[principalID], a.texts[principalUUID], a.texts[principalAccount] = p.ID, p.UUID, p.AccountID
	a.texts[principalCredential] = cmp.Or(p.Credential, resources.CredentialNone)
	if p.Kind == resources.PrincipalService {
		a.lists[principalScopes-textLeaves] = p.Scopes
	}
	if p.Credential == resources.CredentialKey {
		a.lists[principalKeyScopes-textLeaves] = p.KeyScopes
	}
}

func (a *asked) target(t *resources.Target, state string) {
	a.texts[targetAccount], a.texts[targetProject] = t.AccountID, t.ProjectID
	a.texts[targetProjectState] = projectState(t.ProjectID, state)
	a.texts[targetResource], a.texts[targetRest], a.texts[targetUser] = t.Resource, t.Rest, t.UserID
}

func (a *asked) about(accountID string, s *resources.Subject, now resources.Time) {
	a.accountID, a.subject, a.now = accountID, s, now
	if s == nil {
		a.texts[accountNamed] = accountID
	}
}

// projectState is "" without a project; a state that isn't known is as good as absent.
func projectState(project, state string) string {
	switch {
	case project == "":
		return ""
	case state == resources.ProjectActive, state == resources.ProjectDeleting:
		return state
	}
	return resources.ProjectAbsent
}
