package firewall

import (
	"context"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// noRemote refuses a rule with a group outside the project. The text is the same for a group
// of another project, a deleted one and a malformed id.
const noRemote = "is no security group of this project"

// Missing returns each of the ids that names no group of the project, once and in the order of ids.
// It reads in the transaction. Errors are the store's.
func (s *Service) Missing(ctx context.Context, tx store.Tx, account, project string, ids []string) ([]string, error) {
	place, seen := groupPlace{account, project}, map[string]bool{}
	var missing []string
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		if !resources.ValidID(id) {
			missing = append(missing, id)
			continue
		}
		rec, err := store.Lookup(s.c.SecurityGroups.Get(ctx, tx, id))
		if err != nil {
			return nil, err
		}
		if rec == nil || !place.holds(rec.Value) {
			missing = append(missing, id)
		}
	}
	return missing, nil
}

// withRemoteProblems returns the refusal of a request with the problems p and those of the groups
// that its rules name. It returns nil for a request without problems, whose transaction checks those
// groups.
func (s *Service) withRemoteProblems(ctx context.Context, p *wire.Problems, place groupPlace, drafts []ruleDraft) error {
	if p.Err() == nil {
		return nil
	}
	var more []resources.Problem
	err := s.Store.View(ctx, func(tx store.Tx) (err error) {
		more, err = s.remoteProblems(ctx, tx, place, drafts)
		return err
	})
	if err != nil {
		return err
	}
	for _, problem := range more {
		p.Add(problem.Field, "%s", problem.Text)
	}
	return p.Err()
}

// checkRemotes refuses rules that name no group of the project.
func (s *Service) checkRemotes(ctx context.Context, tx store.Tx, place groupPlace, drafts []ruleDraft) error {
	problems, err := s.remoteProblems(ctx, tx, place, drafts)
	if err == nil && len(problems) > 0 {
		return resources.BadRequest(problems...)
	}
	return err
}

// remoteProblems returns a problem for each rule that names no group of the project.
func (s *Service) remoteProblems(ctx context.Context, tx store.Tx, place groupPlace, drafts []ruleDraft) ([]resources.Problem, error) {
	var ids []string
	for _, d := range drafts {
		if d.rule.RemoteSecurityGroupID != "" {
			ids = append(ids, d.rule.RemoteSecurityGroupID)
		}
	}
	missing, err := s.Missing(ctx, tx, place.account, place.project, ids)
	if err != nil {
		return nil, err
	}
	var out []resources.Problem
	for _, d := range drafts {
		if slices.Contains(missing, d.rule.RemoteSecurityGroupID) {
			out = append(out, resources.Problem{Field: d.remoteField, Text: noRemote})
		}
	}
	return out, nil
}

// remotesOf returns the other groups that the rules of a group name, each once.
func remotesOf(g resources.SecurityGroup) []string {
	var out []string
	for _, rule := range g.Rules {
		id := rule.RemoteSecurityGroupID
		if id != "" && id != g.ID && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// setRules stores the group with other rules. The group was read in the same transaction.
func (s *Service) setRules(
	ctx context.Context, tx store.Tx, rec store.Record[resources.SecurityGroup], rules []resources.SecurityGroupRule,
) error {
	before := remotesOf(rec.Value)
	rec.Value.Rules, rec.Value.UpdatedAt = rules, s.now()
	if err := s.updateReferences(ctx, tx, rec.Value.ID, before, remotesOf(rec.Value)); err != nil {
		return err
	}
	return s.c.SecurityGroups.Replace(ctx, tx, rec)
}

// updateReferences stores which groups the rules of a group name: before and after hold those before
// and after the change.
func (s *Service) updateReferences(ctx context.Context, tx store.Tx, group string, before, after []string) error {
	for _, remote := range after {
		if slices.Contains(before, remote) {
			continue
		}
		if err := s.c.SecurityGroupReferences.Insert(ctx, tx, records.SecurityGroupReference{GroupID: group, RemoteID: remote}); err != nil {
			return err
		}
	}
	for _, remote := range before {
		if slices.Contains(after, remote) {
			continue
		}
		rec, err := s.c.SecurityGroupReferences.Get(ctx, tx, records.SecurityGroupReferenceID(group, remote))
		if err == nil {
			err = s.c.SecurityGroupReferences.Delete(ctx, tx, rec)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
