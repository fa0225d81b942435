package records

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// verifyPage is how many records are checked on one snapshot. A snapshot of a shared server must
// not be long.
const verifyPage = 200

// Verified is what a check of a whole store found.
type Verified struct {
	// Records counts the records of each collection.
	Records map[string]int
	// Damage holds a sentence for each fault. At most maxDamage are named; More counts the others.
	Damage []string
	More   int
}

// maxDamage bounds what Verify names.
const maxDamage = 1000

// Verify reads every record. It checks that the record is readable, its revision and its account's
// are positive, its references exist, and each account has an admin or an invited one. An error
// means an unreadable store. Each record is checked on its own snapshot: concurrent changes are not
// damage.
func (c Collections) Verify(ctx context.Context, s store.Store) (Verified, error) {
	v := &verification{c: c, store: s, verified: Verified{Records: map[string]int{}}}
	for _, step := range v.steps() {
		if err := step(ctx); err != nil {
			return Verified{}, err
		}
	}
	return v.verified, nil
}

// verification is one run of Verify.
type verification struct {
	c        Collections
	store    store.Store
	verified Verified
}

// steps returns the checks of all collections but the mark of an unfinished copy.
func (v *verification) steps() []func(context.Context) error {
	c := v.c
	return []func(context.Context) error{
		checked(v, c.Accounts, v.account),
		checked(v, c.Projects, func(r *refs, p resources.Project) { r.account(p.AccountID) }),
		checked(v, c.Users, func(r *refs, u resources.User) {
			if u.AccountID != "" {
				r.account(u.AccountID)
			}
		}),
		checked(v, c.Roles, func(r *refs, role resources.Role) { r.account(role.AccountID) }),
		checked(v, c.Groups, func(r *refs, g resources.Group) { r.account(g.AccountID) }),
		checked(v, c.Members, func(r *refs, m resources.GroupMember) {
			r.group(m.AccountID, m.GroupID)
			r.user(m.UserID)
		}),
		checked(v, c.Assignments, v.assignment),
		checked(v, c.Agents, func(r *refs, a resources.Agent) {
			r.account(a.AccountID)
			for _, client := range a.Clients {
				r.agentClient(a, client)
			}
		}),
		checked(v, c.AgentClients, func(r *refs, a AgentClient) { r.agent(a.AccountID, a.AgentID) }),
		checked(v, c.Delegations, func(r *refs, d resources.Delegation) {
			r.user(d.UserID)
			r.agent(d.AccountID, d.AgentID)
		}),
		checked(v, c.Approvals, func(r *refs, a resources.Approval) { r.user(a.UserID) }),
		checked(v, c.APIKeys, func(r *refs, k resources.APIKey) {
			r.account(k.AccountID)
			r.user(k.UserID)
		}),
		checked(v, c.KeyUses, func(*refs, KeyUse) {}),
		checked(v, c.Outbox, func(*refs, resources.Message) {}),
		checked(v, c.Answers, func(*refs, Answer) {}),
		checked(v, c.Occupancies, func(*refs, Occupancy) {}),
		checked(v, c.Seals, func(*refs, Seal) {}),
		checked(v, c.KubernetesClusters, func(r *refs, k resources.KubernetesRecord) {
			r.project(k.Cluster.Base.AccountID, k.Cluster.Base.ProjectID)
		}),
		checked(v, c.GPUClusters, func(r *refs, g resources.GPURecord) { r.project(g.Cluster.AccountID, g.Cluster.ProjectID) }),
		checked(v, c.ClusterClaims, v.claim),
		checked(v, c.ClusterTurns, func(*refs, ClusterTurn) {}),
		checked(v, c.Changes, func(r *refs, change resources.Change) {
			if change.AccountID != "" {
				r.account(change.AccountID)
			}
			for n := range change.Parts {
				r.changePart(change.ID, n)
			}
		}),
		checked(v, c.ChangeParts, func(r *refs, p ChangePart) { r.wants("change", c.Changes.Schema(), p.ChangeID) }),
		checked(v, c.LogHeads, func(*refs, LogHead) {}),
		checked(v, c.PolicyTrees, func(*refs, PolicyTree) {}),
		checked(v, c.ConsoleSessions, func(*refs, ConsoleSession) {}),
		checked(v, c.ConsoleCodes, func(*refs, ConsoleCode) {}),
		checked(v, c.SecurityGroups, func(r *refs, g resources.SecurityGroup) { r.project(g.AccountID, g.ProjectID) }),
		checked(v, c.DeletedSecurityGroups, func(*refs, resources.SecurityGroup) {}),
		checked(v, c.SecurityGroupReferences, v.reference),
	}
}

// checked returns a step to run check for each record of a collection, page by page.
func checked[T any](v *verification, c store.Collection[T], check func(*refs, T)) func(context.Context) error {
	return func(ctx context.Context) error {
		name := c.Schema().Name
		for after := ""; ; {
			var faults []string
			n := 0
			last := after
			err := v.store.View(ctx, func(tx store.Tx) error {
				faults, n = nil, 0
				rows, err := tx.List(ctx, c.Schema(), after, verifyPage)
				if err != nil {
					return err
				}
				r := &refs{ctx: ctx, tx: tx, c: v.c, seen: map[string]bool{}}
				for _, row := range rows {
					r.names = nil
					readable(c, row, r, check)
					for _, fault := range r.names {
						faults = append(faults, fmt.Sprintf("%s %q: %s", name, row.Key, fault))
					}
					n, last = n+1, row.Key
				}
				return r.err
			})
			if err != nil {
				return err
			}
			v.verified.Records[name] += n
			v.add(faults)
			if n < verifyPage {
				return nil
			}
			after = last
		}
	}
}

// readable checks one record by itself, and then what it names.
func readable[T any](c store.Collection[T], row store.Row, r *refs, check func(*refs, T)) {
	if row.Revision < 1 {
		r.fault("its revision is %d; it must be 1 or more", row.Revision)
	}
	var value T
	if err := json.Unmarshal(row.Body, &value); err != nil {
		r.fault("it can't be read: %v", err)
		return
	}
	if key := c.Key(value); key != row.Key {
		r.fault("it is stored under another key than its own, %q", key)
	}
	check(r, value)
}

func (v *verification) add(faults []string) {
	room := min(maxDamage-len(v.verified.Damage), len(faults))
	v.verified.Damage = append(v.verified.Damage, faults[:room]...)
	v.verified.More += len(faults) - room
}

// account checks an account's revision and its admins.
func (v *verification) account(r *refs, a resources.Account) {
	revision, err := r.tx.Revision(r.ctx, a.ID)
	if r.failed(err) {
		return
	}
	if revision < 1 {
		r.fault("the account has no revision")
	}
	admins, err := v.c.Assignments.Find(r.ctx, r.tx, store.Query{
		Index: ByRole, Equal: []store.Value{store.String(a.ID), store.String(resources.RoleAccountAdmin)},
	})
	if r.failed(err) {
		return
	}
	for _, rec := range admins {
		if held, err := v.held(r, a.ID, rec.Value); r.failed(err) || held {
			return
		}
	}
	r.fault("it has no account admin whose role does not end, and nobody is invited to be one")
}

// held reports whether an unlimited assignment of account_admin reaches an active or invited member
// of the account.
func (v *verification) held(r *refs, account string, a resources.Assignment) (bool, error) {
	if a.ProjectID != "" || a.RoleScope != resources.RoleScopeAccount || a.Status != resources.StatusActive || a.ExpiresAt != 0 {
		return false, nil
	}
	users, err := v.c.assignees(r.ctx, r.tx, a)
	if err != nil {
		return false, err
	}
	for _, id := range users {
		u, err := store.Lookup(v.c.Users.Get(r.ctx, r.tx, id))
		if err != nil {
			return false, err
		}
		if u != nil && u.Value.AccountID == account && (u.Value.Status == resources.StatusActive || u.Value.Status == resources.StatusInvited) {
			return true, nil
		}
	}
	return false, nil
}

// assignment checks that an assignment's references exist.
func (v *verification) assignment(r *refs, a resources.Assignment) {
	r.account(a.AccountID)
	switch a.AssigneeType {
	case resources.AssigneeGroup:
		r.group(a.AccountID, a.AssigneeID)
	case resources.AssigneeUser:
		r.user(a.AssigneeID)
	case resources.AssigneeAgent:
		r.agent(a.AccountID, a.AssigneeID)
	default:
		r.fault("the type of assignee %q is unknown", a.AssigneeType)
	}
	if a.ProjectID != "" {
		r.project(a.AccountID, a.ProjectID)
	}
	// System roles stand in the policy; a custom role's id is made here.
	if strings.HasPrefix(a.RoleID, resources.PrefixRole+"-") {
		r.wants("role", v.c.Roles.Schema(), a.RoleID)
	}
}

// claim checks the cluster of a claim. A cluster's record stays when the cluster is deleted.
func (v *verification) claim(r *refs, claim ClusterClaim) {
	clusters := v.c.KubernetesClusters.Schema()
	if claim.Kind == resources.PrefixGPU {
		clusters = v.c.GPUClusters.Schema()
	}
	r.wants("cluster", clusters, claim.ClusterID)
}

func (v *verification) reference(r *refs, ref SecurityGroupReference) {
	for _, id := range []string{ref.GroupID, ref.RemoteID} {
		r.wants("security group", v.c.SecurityGroups.Schema(), id)
	}
}
