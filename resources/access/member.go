package access

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// memberView is one member of a group as responses show it.
type memberView struct {
	UserID  string         `json:"user_id"`
	AddedAt resources.Time `json:"added_at"`
}

// memberList is the response of group_member.list.
type memberList struct {
	Members []memberView `json:"members"`
	listMeta
}

// listMembers answers group_member.list (N7), in the order in which members were added.
func (s *Service) listMembers(ctx context.Context, r *wire.Request) (wire.Response, error) {
	group := r.Params["groupId"]
	members, page, err := listByToken(ctx, s, r, s.c.Members, listing{
		query:   store.Query{Index: records.ByGroup, Equal: []store.Value{store.String(group)}},
		binding: binding("group_member.list", r.Params["accountId"], group),
		check: func(tx store.Tx) error {
			_, err := s.pathGroup(ctx, tx, r)
			return err
		},
	})
	if err != nil {
		return wire.Response{}, err
	}
	out := memberList{Members: make([]memberView, len(members)), listMeta: page}
	for i, m := range members {
		out.Members[i] = memberView{m.UserID, m.AddedAt}
	}
	return wire.OK(out)
}

// addMember answers group_member.add (N7). A repeat changes nothing and commits too, so its
// response comes when the membership is in force on every replica.
func (s *Service) addMember(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	err := s.Store.Transact(ctx, func(tx store.Tx) error {
		actor, err := s.beginChange(ctx, tx, r, actionGroupUpdate)
		if err != nil {
			return err
		}
		group, err := s.pathGroup(ctx, tx, r)
		if err != nil {
			return err
		}
		user, err := s.c.Users.Get(ctx, tx, r.Params["userId"])
		if errors.Is(err, store.ErrNotFound) || err == nil && user.Value.AccountID != group.Value.AccountID {
			return resources.NotFound("user")
		}
		if err != nil {
			return err
		}
		return s.join(ctx, tx, r.Principal, actor, group.Value, user.Value)
	})
	return done("The user is a member of the group.", err)
}

// join adds the user to the group, unless they are a member. The caller must hold all that the
// group grants.
func (s *Service) join(
	ctx context.Context, tx store.Tx, caller resources.Principal, actor resources.Facts, g resources.Group, u resources.User,
) error {
	member := resources.GroupMember{
		ID: records.MemberID(g.ID, u.ExternalID), AccountID: g.AccountID, GroupID: g.ID, UserID: u.ExternalID,
		AddedAt: s.now(),
	}
	_, err := s.c.Members.Get(ctx, tx, member.ID)
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err := s.mayShare(ctx, tx, caller, actor, g.AccountID, resources.AssigneeGroup, g.ID); err != nil {
		return err
	}
	return s.c.Members.Insert(ctx, tx, member)
}

// removeMember answers group_member.remove (N7). Removing a user who is not a member succeeds.
func (s *Service) removeMember(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	err := store.CommitNotFound(ctx, s.Store, func(tx store.Tx) error {
		if _, err := s.beginChange(ctx, tx, r, actionGroupUpdate); err != nil {
			return err
		}
		group, err := s.pathGroup(ctx, tx, r)
		if err != nil {
			return err
		}
		member, err := s.c.Members.Get(ctx, tx, records.MemberID(group.Value.ID, r.Params["userId"]))
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		change := records.RoleChange{AccountID: group.Value.AccountID, Caller: r.Principal, Now: s.now(), GroupID: group.Value.ID}
		return s.c.KeepAdmins(ctx, tx, change, func() error {
			return s.c.Members.Delete(ctx, tx, member)
		})
	})
	return done("The user is not a member of the group.", err)
}
