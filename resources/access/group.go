package access

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// Actions of groups, as the catalogue names them.
const (
	actionGroupCreate = "account:group:create"
	actionGroupUpdate = "account:group:update"
	actionGroupDelete = "account:group:delete"
)

// groupRoutes returns the handlers of groups and their members.
func (s *Service) groupRoutes() wire.Routes {
	return wire.Named("access", wire.Routes{
		"group.create":        s.Idempotency.Create("group.create", s.createGroup),
		"group.list":          s.listGroups,
		"group.get":           s.getGroup,
		"group.delete":        s.deleteGroup,
		"group_member.list":   s.listMembers,
		"group_member.add":    s.addMember,
		"group_member.remove": s.removeMember,
	})
}

// groupBody is the response with one group.
type groupBody struct {
	Group resources.Group `json:"group"`
}

// groupList is the response of group.list.
type groupList struct {
	Groups []resources.Group `json:"groups"`
	listMeta
}

// createGroup answers group.create (N7).
func (s *Service) createGroup(_ context.Context, r *wire.Request) (idempotency.Commit, error) {
	var p wire.Problems
	noQuery(r, &p)
	body := r.ParseObject(&p)
	group := resources.Group{AccountID: r.Params["accountId"], Name: requiredName(body, &p)}
	group.Description, _ = body.Text("description")
	if utf8.RuneCountInString(group.Description) > maxDescription {
		p.Add("description", "must be at most %d characters", maxDescription)
	}
	body.Done()
	if err := p.Err(); err != nil {
		return nil, err
	}
	group.ID, group.CreatedAt = s.IDs.New(resources.PrefixGroup), s.now()
	group.UpdatedAt = group.CreatedAt
	return func(ctx context.Context, tx store.Tx) (wire.Response, error) {
		if _, err := s.beginChange(ctx, tx, r, actionGroupCreate); err != nil {
			return wire.Response{}, err
		}
		err := s.c.Groups.Insert(ctx, tx, group)
		if store.IsDuplicate(err, records.ByName) {
			err = resources.Conflict("Another group of the account has this name.")
		}
		if err != nil {
			return wire.Response{}, err
		}
		return wire.Created(groupBody{group})
	}, nil
}

// listGroups answers group.list (N7), in the order of creation.
func (s *Service) listGroups(ctx context.Context, r *wire.Request) (wire.Response, error) {
	account := r.Params["accountId"]
	groups, page, err := listByToken(ctx, s, r, s.c.Groups, listing{
		query:   store.Query{Index: records.ByAccount, Equal: []store.Value{store.String(account)}},
		binding: binding("group.list", account),
	})
	return wire.Answer(groupList{groups, page}, err)
}

// getGroup answers group.get (N7).
func (s *Service) getGroup(ctx context.Context, r *wire.Request) (wire.Response, error) {
	return read(ctx, s, r, s.pathGroup, func(one resources.Group) any { return groupBody{one} })
}

// deleteGroup answers group.delete (N7). It deletes the group's memberships and assignments too.
func (s *Service) deleteGroup(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	err := store.CommitNotFound(ctx, s.Store, func(tx store.Tx) error {
		if _, err := s.beginChange(ctx, tx, r, actionGroupDelete); err != nil {
			return err
		}
		rec, err := s.pathGroup(ctx, tx, r)
		if err != nil {
			return err
		}
		group := rec.Value
		change := records.RoleChange{AccountID: group.AccountID, Caller: r.Principal, Now: s.now(), GroupID: group.ID}
		return s.c.KeepAdmins(ctx, tx, change, func() error {
			err := s.c.Members.DeleteAll(ctx, tx, store.Query{Index: records.ByGroup, Equal: []store.Value{store.String(group.ID)}})
			if err != nil {
				return err
			}
			err = s.deleteAssignments(ctx, tx, records.ByAssignee, group.AccountID, resources.AssigneeGroup, group.ID)
			if err != nil {
				return err
			}
			return s.c.Groups.Delete(ctx, tx, rec)
		})
	})
	return done("The group was deleted.", err)
}

// pathGroup reads the group in the path; 404 if the path's account does not have it.
func (s *Service) pathGroup(ctx context.Context, tx store.Tx, r *wire.Request) (store.Record[resources.Group], error) {
	rec, err := s.c.Groups.Get(ctx, tx, r.Params["groupId"])
	if errors.Is(err, store.ErrNotFound) || err == nil && rec.Value.AccountID != r.Params["accountId"] {
		return store.Record[resources.Group]{}, resources.NotFound("group")
	}
	return rec, err
}
