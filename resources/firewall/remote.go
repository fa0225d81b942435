package firewall

import (
	"context"
	"errors"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// noRemote is the problem of a named group that is not there; another project's, a
// deleted one and no id at all read the same.
const noRemote = "is no security group of this project"

// Missing says which of the ids name no group of the project that could be used, each
// once, in the order in which they were given. It reads in the caller's transaction.
func (s *Service) Missing(ctx context.Context, tx store.Tx, account, project string, ids []string) ([]string, error) {
	at, asked := place{account, project}, map[string]bool{}
	var missing []string
	for _, id := range ids {
		if asked[id] {
			continue
		}
		asked[id] = true
		if !resources.ValidID(id) {
			missing = append(missing, id)
			continue
		}
		rec, err := s.c.SecurityGroups.Get(ctx, tx, id)
		switch {
		case errors.Is(err, store.ErrNotFound), err == nil && !at.holds(rec.Value):
			missing = append(missing, id)
		case err != nil:
			return nil, err
		}
	}
	return missing, nil
}

// invalid is the 400 of a request in which something is wrong (p), with the groups that
// its rules name and are not there; of a request that is right so far it says nothing,
// since the transaction looks at those.
func (s *Service) invalid(ctx context.Context, p *wire.Problems, at place, drafts []ruleDraft) error {
	if p.Err() == nil {
		return nil
	}
	var more []resources.Problem
	err := s.Store.View(ctx, func(tx store.Tx) (err error) {
		more, err = s.remoteProblems(ctx, tx, at, drafts)
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

// remotesThere refuses rules that name what is not there.
func (s *Service) remotesThere(ctx context.Context, tx store.Tx, at place, drafts []ruleDraft) error {
	problems, err := s.remoteProblems(ctx, tx, at, drafts)
	if err == nil && len(problems) > 0 {
		return resources.BadRequest(problems...)
	}
	return err
}

func (s *Service) remoteProblems(ctx context.Context, tx store.Tx, at place, drafts []ruleDraft) ([]resources.Problem, error) {
	var ids []string
	for _, d := range drafts {
		if d.rule.RemoteSecurityGroupID != "" {
			ids = append(ids, d.rule.RemoteSecurityGroupID)
		}
	}
	missing, err := s.Missing(ctx, tx, at.account, at.project, ids)
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

// remotesOf are the other groups that a group's rules name, each once.
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

// setRules gives a group that was read in the same transaction other rules.
func (s *Service) setRules(
	ctx context.Context, tx store.Tx, rec store.Record[resources.SecurityGroup], rules []resources.SecurityGroupRule,
) error {
	before := remotesOf(rec.Value)
	rec.Value.Rules, rec.Value.UpdatedAt = rules, s.now()
	if err := s.refer(ctx, tx, rec.Value.ID, before, remotesOf(rec.Value)); err != nil {
		return err
	}
	return s.c.SecurityGroups.Replace(ctx, tx, rec)
}

// refer keeps the references of a group: before and after are the groups that it named
// and that it names now.
func (s *Service) refer(ctx context.Context, tx store.Tx, group string, before, after []string) error {
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
