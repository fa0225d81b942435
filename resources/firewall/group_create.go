package firewall

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// groupDraft is a group that is to be made, as the client sent it.
type groupDraft struct {
	group resources.SecurityGroup
	rules []ruleDraft
	// tooMany says that the body has more rules than a group may have; rules is then empty.
	tooMany bool
}

// createGroup answers security_group.create (E1).
func (s *Service) createGroup(ctx context.Context, r *wire.Request) (idempotency.Commit, error) {
	draft, err := s.readGroup(ctx, r)
	if err != nil {
		return nil, err
	}
	group := draft.group
	group.ID, group.Status = s.IDs.New(resources.PrefixSecurityGroup), resources.SecurityGroupActive
	group.CreatedAt = s.now()
	group.UpdatedAt = group.CreatedAt
	group.Rules = make([]resources.SecurityGroupRule, len(draft.rules))
	for i, rule := range draft.rules {
		group.Rules[i] = s.newRule(rule, group.ID, group.CreatedAt)
	}
	return func(ctx context.Context, tx store.Tx) (wire.Response, error) {
		if err := s.checkCaller(ctx, tx, r); err != nil {
			return wire.Response{}, err
		}
		if err := s.addGroup(ctx, tx, group, draft); err != nil {
			return wire.Response{}, err
		}
		return wire.Created(groupBody{group, "The security group was created."})
	}, nil
}

// readGroup reads the body of security_group.create; 400 with all problems.
func (s *Service) readGroup(ctx context.Context, r *wire.Request) (groupDraft, error) {
	var p wire.Problems
	r.ParseQuery(&p).Done()
	body, place := r.ParseObject(&p), placeOf(r)
	if id := body.Required("project_id"); id != "" && id != place.project {
		body.Add("project_id", "must be the project of the path")
	}
	d := groupDraft{group: resources.SecurityGroup{AccountID: place.account, ProjectID: place.project, Name: requiredName(body)}}
	d.group.Description, _ = readDescription(body)
	d.group.Metadata = readMetadata(body)
	d.rules, d.tooMany = s.readRules(body)
	body.Done()
	return d, s.withRemoteProblems(ctx, &p, place, d.rules)
}

// readRules reads the rules of a new group, at most as many as a group may have. A body has room
// for a hundred thousand.
func (s *Service) readRules(body *wire.Object) (rules []ruleDraft, tooMany bool) {
	items, tooMany, _ := body.Objects("rules", s.MaxRules)
	for _, item := range items {
		rules = append(rules, readRule(item))
	}
	return rules, tooMany
}

// addGroup stores the group and its references; 400 for rules with a group outside the project, 409 for a group beyond
// the project's bounds.
func (s *Service) addGroup(ctx context.Context, tx store.Tx, group resources.SecurityGroup, draft groupDraft) error {
	place := groupPlace{group.AccountID, group.ProjectID}
	if err := s.enter(ctx, tx, place); err != nil {
		return err
	}
	if err := s.checkRemotes(ctx, tx, place, draft.rules); err != nil {
		return err
	}
	if err := checkDifferent(group.Rules); err != nil {
		return err
	}
	if draft.tooMany {
		return s.rulesFull()
	}
	groups, err := s.c.SecurityGroups.Count(ctx, tx, store.Query{Index: records.ByCreated, Equal: place.values()})
	if err != nil {
		return err
	}
	if groups >= s.MaxGroups {
		return resources.Conflict("The project has %d security groups, and no more can be made; delete one that is not needed.", groups)
	}
	if err := checkSize(resources.SecurityGroup{}, group); err != nil {
		return err
	}
	if err := s.c.SecurityGroups.Insert(ctx, tx, group); err != nil {
		return nameTaken(err)
	}
	return s.updateReferences(ctx, tx, group.ID, nil, remotesOf(group))
}

// nameTaken returns the error of a write, with a conflict in place of a duplicate name.
func nameTaken(err error) error {
	if store.IsDuplicate(err, records.ByName) {
		return resources.Conflict("Another security group of the project has this name.")
	}
	return err
}
