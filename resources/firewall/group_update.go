package firewall

import (
	"context"
	"encoding/json"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// groupPatch is the body of security_group.update. nil leaves a field as it is.
type groupPatch struct {
	name        *string
	description *string
	metadata    json.RawMessage
}

// updateGroup answers security_group.update (N11). It replaces metadata as a whole. Clients remove a
// description by "" and metadata by {}, since null counts as absent.
func (s *Service) updateGroup(ctx context.Context, r *wire.Request) (wire.Response, error) {
	patch, err := readPatch(r)
	if err != nil {
		return wire.Response{}, err
	}
	var changed resources.SecurityGroup
	err = s.Store.Transact(ctx, func(tx store.Tx) error {
		if err := s.checkCaller(ctx, tx, r); err != nil {
			return err
		}
		rec, err := s.pathGroup(ctx, tx, r)
		if err != nil {
			return err
		}
		before := rec.Value
		patch.apply(&rec.Value)
		if err := checkSize(before, rec.Value); err != nil {
			return err
		}
		rec.Value.UpdatedAt = s.now()
		changed = rec.Value
		return nameTaken(s.c.SecurityGroups.Replace(ctx, tx, rec))
	})
	return wire.Answer(groupBody{changed, "The security group was changed."}, err)
}

// readPatch reads the body of security_group.update; 400 with all problems.
func readPatch(r *wire.Request) (groupPatch, error) {
	var p wire.Problems
	var patch groupPatch
	r.ParseQuery(&p).Done()
	body := r.ParseObject(&p)
	if name, ok := body.Text("name"); ok {
		name = checkName(body, name)
		patch.name = &name
	}
	if description, ok := readDescription(body); ok {
		patch.description = &description
	}
	patch.metadata = readMetadata(body)
	body.Done()
	if p.Err() == nil && patch.name == nil && patch.description == nil && patch.metadata == nil {
		p.Add("", "name at least one of name, description and metadata")
	}
	return patch, p.Err()
}

// apply sets the fields of the group that the body has.
func (c groupPatch) apply(g *resources.SecurityGroup) {
	if c.name != nil {
		g.Name = *c.name
	}
	if c.description != nil {
		g.Description = *c.description
	}
	if c.metadata != nil {
		g.Metadata = c.metadata
	}
}
