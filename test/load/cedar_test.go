package load_test

import (
	"fmt"

	"github.com/cedar-policy/cedar-go"
)

// cedarRole permits the actions of a role in the places where its holder has it: a project, an account or a resource.
// These are entities, each the parent of the next smaller one.
const cedarRole = `permit (principal, action in Action::%q, resource)
when { principal has %s && resource in principal.%s };`

// cedarEntities has the users, projects and actions, and the one resource of a question.
type cedarEntities struct {
	all      cedar.EntityMap
	resource cedar.Entity
}

func (e *cedarEntities) Get(id cedar.EntityUID) (cedar.Entity, bool) {
	if id == e.resource.UID {
		return e.resource, true
	}
	entity, ok := e.all[id]
	return entity, ok
}

// cedar returns a decider of cedar-go.
func (p peer) cedar() (decider, error) {
	w := p.world()
	policies := cedar.NewPolicySet()
	for _, r := range w.roles {
		var policy cedar.Policy
		if err := policy.UnmarshalCedar(fmt.Appendf(nil, cedarRole, r.id, r.id, r.id)); err != nil {
			return nil, err
		}
		policies.Add(cedar.PolicyID(r.id), &policy)
	}
	all := w.cedarEntities()
	return func(a asked) (bool, error) {
		project, name := a.place()
		resource := cedar.NewEntityUID("Resource", cedar.String(name))
		parents := cedar.NewEntityUIDSet(cedar.NewEntityUID("Project", cedar.String(project)))
		decision, diagnostic := cedar.Authorize(policies, &cedarEntities{all, cedar.Entity{UID: resource, Parents: parents}},
			cedar.Request{
				Principal: cedar.NewEntityUID("User", cedar.String(a.user)),
				Action:    cedar.NewEntityUID("Action", cedar.String(a.action)),
				Resource:  resource,
			})
		if len(diagnostic.Errors) > 0 {
			return false, fmt.Errorf("%v", diagnostic.Errors)
		}
		return decision == cedar.Allow, nil
	}, nil
}

// cedarEntities returns the entities of users, projects and actions. A user has the projects of each role as
// attributes. An action has the roles that grant it as parents.
func (w *world) cedarEntities() cedar.EntityMap {
	all := cedar.EntityMap{}
	account := cedar.NewEntityUID("Account", cedar.String(w.account))
	for i := range projects {
		id := cedar.NewEntityUID("Project", cedar.String(projectID(i)))
		all[id] = cedar.Entity{UID: id, Parents: cedar.NewEntityUIDSet(account)}
	}
	roles := map[string][]cedar.EntityUID{}
	for _, r := range w.roles {
		for _, action := range r.permissions {
			roles[action] = append(roles[action], cedar.NewEntityUID("Action", cedar.String(r.id)))
		}
	}
	for action, granting := range roles {
		id := cedar.NewEntityUID("Action", cedar.String(action))
		all[id] = cedar.Entity{UID: id, Parents: cedar.NewEntityUIDSet(granting...)}
	}
	for user := range w.users {
		held := map[cedar.String][]cedar.Value{}
		for k := range w.assignments {
			r, project := w.held(user, k)
			held[cedar.String(r.id)] = append(held[cedar.String(r.id)], cedar.NewEntityUID("Project", cedar.String(project)))
		}
		attributes := cedar.RecordMap{}
		for role, places := range held {
			attributes[role] = cedar.NewSet(places...)
		}
		id := cedar.NewEntityUID("User", cedar.String(userID(user)))
		all[id] = cedar.Entity{UID: id, Attributes: cedar.NewRecord(attributes)}
	}
	return all
}
