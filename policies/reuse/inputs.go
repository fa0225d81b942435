package reuse

import (
	"cmp"

	"github.com/portcullis-authz/portcullis/resources"
)

// Value is one value of a question by which the key of its verdict can tell it from others.
type Value uint8

// The values of a question that are texts.
const (
	PrincipalKind Value = iota
	PrincipalID
	PrincipalUUID
	PrincipalAccount
	PrincipalCredential
	ActionID
	ActionScope
	ActionResource
	ActionVerb
	RouteName
	RouteEffect
	TargetAccount
	TargetProject
	TargetProjectState
	TargetResource
	TargetRest
	TargetUser
	AccountNamed // the account in question where there are no facts of it
	texts
)

// The values of a question that are lists.
const (
	PrincipalScopes Value = texts + iota
	PrincipalKeyScopes
	RouteAccess
	GrantPermissions
	lists
)

// The other values.
const (
	GrantUntil Value = lists + iota
	SubjectFacts
	Period // what is left of the time: which of the subject's assignments have ended
	Here   // what is left of the place: where around the target the subject holds a role
	allValues
)

// Inputs are the values of a question or a grant. Both are made of them, what the policy is told and the key of
// its verdict.
type Inputs struct {
	texts [texts]string
	lists [lists - texts][]string
	// Subject is nil where no facts are known of the account.
	Subject   *resources.Subject
	AccountID string
	// Until is when a grant ends, zero for never.
	Until, Now resources.Time
}

// Place returns the target's place.
func (in *Inputs) Place() Place { return Place{in.texts[TargetProject], in.texts[TargetResource]} }

// Text returns a value that is a text.
func (in *Inputs) Text(v Value) string { return in.texts[v] }

// List returns a value that is a list.
func (in *Inputs) List(v Value) []string { return in.lists[v-texts] }

// OfQuestion returns the values of a question.
func OfQuestion(q *resources.Question) (in Inputs) {
	in.principal(&q.Principal)
	in.target(&q.Target, q.Facts.ProjectState)
	in.about(q.AccountID, q.Facts.Subject, q.Now)
	in.texts[ActionID], in.texts[ActionScope] = q.Action.ID, q.Action.Scope
	in.texts[ActionResource], in.texts[ActionVerb] = q.Action.Resource, q.Action.Verb
	if row := q.Route; row != nil {
		in.texts[RouteName], in.texts[RouteEffect], in.lists[RouteAccess-texts] = row.Name, row.Effect, row.Access
	}
	return in
}

// OfGrant returns the values of a grant, which is of no action and no route. A place of a grant is a resource itself.
func OfGrant(g *resources.Grant) (in Inputs) {
	in.principal(&g.Principal)
	in.target(&resources.Target{ProjectID: g.ProjectID, Resource: g.ResourceID, Rest: g.ResourceID}, g.Facts.ProjectState)
	in.about(g.AccountID, g.Facts.Subject, g.Now)
	in.lists[GrantPermissions-texts], in.Until = g.Permissions, g.Until
	return in
}

// principal gives scopes to services only and key scopes to keys only, whatever
// the caller filled in.
func (in *Inputs) principal(p *resources.Principal) {
	in.texts[PrincipalKind] = cmp.Or(p.Kind, resources.PrincipalNone)
	in.texts[PrincipalID], in.texts[PrincipalUUID], in.texts[PrincipalAccount] = p.ID, p.UUID, p.AccountID
	in.texts[PrincipalCredential] = cmp.Or(p.Credential, resources.CredentialNone)
	if p.Kind == resources.PrincipalService {
		in.lists[PrincipalScopes-texts] = p.Scopes
	}
	if p.Credential == resources.CredentialKey {
		in.lists[PrincipalKeyScopes-texts] = p.KeyScopes
	}
}

func (in *Inputs) target(t *resources.Target, state string) {
	in.texts[TargetAccount], in.texts[TargetProject] = t.AccountID, t.ProjectID
	in.texts[TargetProjectState] = projectState(t.ProjectID, state)
	in.texts[TargetResource], in.texts[TargetRest], in.texts[TargetUser] = t.Resource, t.Rest, t.UserID
}

func (in *Inputs) about(accountID string, s *resources.Subject, now resources.Time) {
	in.AccountID, in.Subject, in.Now = accountID, s, now
	if s == nil {
		in.texts[AccountNamed] = accountID
	}
}

// projectState returns "" without a project; an unknown state is as good as absent.
func projectState(project, state string) string {
	switch {
	case project == "":
		return ""
	case state == resources.ProjectActive, state == resources.ProjectDeleting:
		return state
	}
	return resources.ProjectAbsent
}
