package explain

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// Directory reads the store at the revision of the question's facts.
type Directory interface {
	// Roles returns the custom roles of the account.
	Roles(ctx context.Context) ([]resources.Role, error)
	// Others counts the other users whom a change concerns. The error is ErrMoved if that revision is gone.
	Others(ctx context.Context, change Change) (int, error)
}

// ErrMoved means that the account has changed since the facts of the question were read.
var ErrMoved = errors.New("the account has changed since the facts were read")

// Change says which other users a fix changes.
type Change struct {
	// Account is all members of the account.
	Account bool
	// RoleIDs are the holders of these roles, GroupIDs the members of these groups.
	RoleIDs, GroupIDs []string
}

// Explain explains the question. The action of the question's route is the right to see the whole answer. Without that
// right, the user in question sees what they may know. The error is of KindUnavailable, or the directory's.
func Explain(ctx context.Context, policy *engine.Pinned, q resources.Question, d Directory) (resources.Explanation, error) {
	return explain(ctx, policy, q, d, nil)
}

// explain explains the question to a caller with that sight; nil is the sight by policy.
func explain(ctx context.Context, policy *engine.Pinned, q resources.Question, d Directory, sees *sight) (resources.Explanation, error) {
	e := explanation{policy: policy, q: q, directory: d, granting: map[string]bool{}, breadths: map[string]int{}}
	for _, id := range policy.Granting(q.Action) {
		e.granting[id] = true
	}
	for _, id := range policy.Actions() {
		if action, err := resources.ParseAction(id); err == nil {
			e.actions = append(e.actions, action)
		}
	}
	verdict, err := policy.Decide(ctx, q)
	if err != nil {
		return resources.Explanation{}, err
	}
	if e.said, err = policy.Explain(ctx, q); err != nil {
		return resources.Explanation{}, err
	}
	e.out = resources.Explanation{
		Allowed: verdict.Allowed, Reason: verdict.Reason, Code: verdict.Code, PolicyRevision: verdict.PolicyRevision,
		AccountRevision: q.Facts.Revision, DecidedAt: q.Now, Complete: true,
		Conditions: []resources.Condition{}, Grants: []resources.ExplainedGrant{}, Denies: []resources.PolicyRule{},
		Fixes: []resources.Fix{}, BlockedBy: []resources.PolicyRule{},
	}
	if sees != nil {
		e.sees = *sees
	} else if e.sees, err = e.sight(ctx); err != nil {
		return resources.Explanation{}, err
	}
	e.addRules()
	if err := e.addGrants(ctx); err != nil {
		return resources.Explanation{}, err
	}
	if !e.out.Allowed && e.sees.project {
		if err := e.addFixes(ctx); err != nil {
			return resources.Explanation{}, err
		}
	} else if !e.out.Allowed {
		e.out.Complete = false
	}
	return e.out, nil
}

// explanation is the state of one explanation.
type explanation struct {
	policy    *engine.Pinned
	q         resources.Question
	directory Directory
	said      engine.Explained
	sees      sight
	out       resources.Explanation
	// granting are the system roles with the action, actions those that the tree lists.
	granting map[string]bool
	actions  []resources.Action
	// roles are those that may be named, breadths how many of the actions a role grants.
	roles    []resources.Role
	breadths map[string]int
}

// addRules tells conditions and deny rules.
func (e *explanation) addRules() {
	for _, condition := range e.said.Conditions {
		if condition.Holds {
			condition.Says = "" // its text is for a condition that does not hold
		}
		if e.sees.all || e.said.Told[condition.Name] {
			e.out.Conditions = append(e.out.Conditions, condition)
		}
	}
	for _, rule := range e.said.Denies {
		if rule, visible := e.visible(rule); visible {
			e.out.Denies = append(e.out.Denies, rule)
		}
	}
}

// visible returns a deny rule as the caller may see it.
func (e *explanation) visible(rule resources.PolicyRule) (resources.PolicyRule, bool) {
	if e.sees.all {
		return rule, true
	}
	return resources.PolicyRule{Reason: rule.Reason}, e.said.AllDenies || e.said.PublicDenies[rule.Reason]
}

// suppose says whether a changed question is allowed. It is not if the rules fail, or if the gate refuses the evaluation:
// the answer is not complete then.
func (e *explanation) suppose(ctx context.Context, q resources.Question) bool {
	d, err := e.policy.Suppose(ctx, q)
	if err != nil && engine.FailureOf(err) == engine.FailureOther { // no rule has failed
		e.out.Complete = false
	}
	return err == nil && d.Allowed
}
