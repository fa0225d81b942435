package explain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// Document is a made-up world: one input of the policy (policies/schemas/input). A missing member is empty. Its custom
// roles are those of subject.roles, and it has no other user. The engine computes all other values of the input.
type Document struct {
	Action struct {
		ID string `json:"id"`
	} `json:"action"`
	Now       int64 `json:"now"`
	Principal struct {
		Kind       string          `json:"kind"`
		ID         string          `json:"id"`
		UUID       string          `json:"uuid"`
		Account    string          `json:"account"`
		Scopes     map[string]bool `json:"scopes"`
		Credential string          `json:"credential"`
		KeyScopes  map[string]bool `json:"key_scopes"`
	} `json:"principal"`
	Route struct {
		Name   string          `json:"name"`
		Access map[string]bool `json:"access"`
		Effect string          `json:"effect"`
	} `json:"route"`
	Account struct {
		ID     string `json:"id"`
		Exists bool   `json:"exists"`
		Status string `json:"status"`
	} `json:"account"`
	Subject documentSubject `json:"subject"`
	Target  struct {
		Account      string `json:"account"`
		Project      string `json:"project"`
		ProjectState string `json:"project_state"`
		Resource     string `json:"resource"`
		Rest         string `json:"rest"`
		User         string `json:"user"`
	} `json:"target"`
}

type documentSubject struct {
	ID          string                                     `json:"id"`
	Exists      bool                                       `json:"exists"`
	Status      string                                     `json:"status"`
	Member      bool                                       `json:"member"`
	Assignments map[string]map[string][]documentAssignment `json:"assignments"`
	Roles       map[string]documentRole                    `json:"roles"`
}

type documentAssignment struct {
	Role       string `json:"role"`
	Custom     bool   `json:"custom"`
	RoleScope  string `json:"role_scope"`
	RoleStatus string `json:"role_status"`
	Status     string `json:"status"`
	Expires    int64  `json:"expires"`
}

type documentRole struct {
	Scope       string          `json:"scope"`
	Permissions map[string]bool `json:"permissions"`
}

// ReadDocument parses a made-up world. The error names members that are unknown or contradict others.
func ReadDocument(raw []byte) (*Document, error) {
	var d Document
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if err := decoder.Decode(&d); err != nil {
		return nil, fmt.Errorf("it is not an input of the policy (policies/schemas/input): %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something after the first value; it must hold one input")
	}
	given, err := ast.ValueFromReader(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("it is not an input of the policy (policies/schemas/input): %w", err)
	}
	if err := d.check(given); err != nil {
		return nil, err
	}
	if _, err := resources.ParseAction(d.Action.ID); err != nil {
		return nil, fmt.Errorf("action.id %w", err)
	}
	return &d, nil
}

// Explain explains the question of the document without holding anything back.
func (d *Document) Explain(ctx context.Context, policy *engine.Pinned) (resources.Explanation, error) {
	sees := everything()
	return explain(ctx, policy, d.question(), d, &sees)
}

// judgedWithin bounds an evaluation for which only an author waits.
const judgedWithin = 10 * time.Second

// Judge returns the verdict that the gateway has by a tree: of `access` if the document names a route, else of `decision`.
func (d *Document) Judge(ctx context.Context, set *engine.Set) (resources.Decision, error) {
	q := d.question()
	if d.Route.Name != "" && d.Route.Name != "authorization.check" {
		return set.Judge(ctx, engine.EntryAccess, q, judgedWithin)
	}
	if denied, unlisted := set.Unlisted(q.Action); unlisted {
		return denied, nil
	}
	return set.Judge(ctx, engine.EntryDecision, q, judgedWithin)
}

// Roles implements Directory.
func (d *Document) Roles(context.Context) (out []resources.Role, err error) {
	for _, id := range slices.Sorted(maps.Keys(d.Subject.Roles)) {
		role := d.Subject.Roles[id]
		out = append(out, resources.Role{
			ID: id, Scope: role.Scope, Status: resources.StatusActive, IsCustom: true, Permissions: members(role.Permissions),
		})
	}
	return out, nil
}

// Others implements Directory.
func (*Document) Others(context.Context, Change) (int, error) { return 0, nil }

func (d *Document) question() resources.Question {
	action, _ := resources.ParseAction(d.Action.ID)
	subject := &resources.Subject{
		AccountID: d.Account.ID, AccountExists: d.Account.Exists, AccountStatus: d.Account.Status,
		UserID: d.Subject.ID, UserExists: d.Subject.Exists, UserStatus: d.Subject.Status, Member: d.Subject.Member,
	}
	for _, project := range slices.Sorted(maps.Keys(d.Subject.Assignments)) {
		for _, resource := range slices.Sorted(maps.Keys(d.Subject.Assignments[project])) {
			for _, a := range d.Subject.Assignments[project][resource] {
				subject.Assignments = append(subject.Assignments, d.assignmentAt(a, project, resource))
			}
		}
	}
	return resources.Question{
		Principal: resources.Principal{
			Kind: d.Principal.Kind, ID: d.Principal.ID, UUID: d.Principal.UUID, AccountID: d.Principal.Account,
			Scopes: members(d.Principal.Scopes), Credential: d.Principal.Credential, KeyScopes: members(d.Principal.KeyScopes),
		},
		Action: action, AccountID: d.Account.ID, Now: resources.Time(d.Now),
		Facts: resources.Facts{Subject: subject, ProjectState: d.Target.ProjectState},
		Target: resources.Target{
			AccountID: d.Target.Account, ProjectID: d.Target.Project, Resource: d.Target.Resource, Rest: d.Target.Rest, UserID: d.Target.User,
		},
		Route: &resources.Route{Name: d.Route.Name, Access: members(d.Route.Access), Effect: d.Route.Effect},
	}
}

// assignmentAt returns an assignment that the document has at a place, in the form of a question's facts. The permissions
// of a custom role are those of the document's role; a system role has none, since policy knows them.
func (d *Document) assignmentAt(a documentAssignment, project, resource string) resources.HeldRole {
	h := resources.HeldRole{
		RoleID: a.Role, RoleScope: a.RoleScope, RoleStatus: a.RoleStatus, Custom: a.Custom, ProjectID: project, ResourceID: resource,
		Status: a.Status, ExpiresAt: resources.Time(a.Expires),
	}
	if a.Custom {
		h.Permissions = members(d.Subject.Roles[a.Role].Permissions)
	}
	return h
}

// members returns the names that stand in an object with true.
func members(set map[string]bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(set)), func(name string) bool { return !set[name] })
}
