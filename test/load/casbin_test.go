package load_test

import (
	"github.com/casbin/casbin/v2"
	"github.com/casbin/casbin/v2/model"
)

// casbinModel is casbin's model of roles in domains: a user holds a role in a project, and a role grants an action on a
// resource or, with *, on all resources. The cheapest comparison comes first.
const casbinModel = `
[request_definition]
r = sub, dom, obj, act
[policy_definition]
p = sub, obj, act
[role_definition]
g = _, _, _
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.act == p.act && (p.obj == "*" || p.obj == r.obj) && g(r.sub, p.sub, r.dom)
`

// casbin returns a decider of casbin's cached enforcer. Its cache key has all parts of a question.
func (p peer) casbin() (decider, error) {
	w := p.world()
	described, err := model.NewModelFromString(casbinModel)
	if err != nil {
		return nil, err
	}
	enforcer, err := casbin.NewCachedEnforcer(described)
	if err != nil {
		return nil, err
	}
	var granted, held [][]string
	for _, r := range w.roles {
		for _, action := range r.permissions {
			granted = append(granted, []string{r.id, "*", action})
		}
	}
	for user := range w.users {
		for k := range w.assignments {
			r, project := w.held(user, k)
			held = append(held, []string{userID(user), r.id, project})
		}
	}
	if _, err := enforcer.AddPolicies(granted); err != nil {
		return nil, err
	}
	if _, err := enforcer.AddGroupingPolicies(held); err != nil {
		return nil, err
	}
	return func(a asked) (bool, error) {
		project, resource := a.place()
		return enforcer.Enforce(a.user, project, resource, a.action)
	}, nil
}
