package people

import (
	"crypto/sha256"
	"strings"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/question"
	"github.com/portcullis-authz/portcullis/resources"
)

// stand is what rules can read of a person at a place.
type stand struct {
	place
	keys []string
	// base is a question by the user about the place itself, of no action.
	base resources.Question
}

// stand returns the stand of a person at a place, without the ids that rules can't distinguish.
func (n *names) stand(p *Person, spot place, now resources.Time) *stand {
	subject, target := p.Subject.Clone(), resources.TargetAt(n.mask(spot.project, compare.AnyProject), spot.resource)
	if collection, _, nested := strings.Cut(spot.resource, "/"); nested {
		target = resources.TargetAt(target.ProjectID, n.mask(spot.resource, collection+"/any-v0"))
	}
	state := p.Projects[spot.project]
	if spot.project == compare.AnyProject {
		state = resources.ProjectActive
	}
	subject.UserID, subject.UserUUID = n.mask(subject.UserID, compare.AnyUser), compare.AnyUUID
	subject.AccountID = n.mask(subject.AccountID, compare.AnyAccount)
	caller := resources.Principal{
		Kind: resources.PrincipalUser, ID: subject.UserID, UUID: subject.UserUUID, AccountID: subject.AccountID, Credential: resources.CredentialToken,
	}
	subject.Assignments = nil
	if spot.stranger {
		subject.AccountID, subject.AccountExists, subject.AccountStatus, subject.Member = compare.OtherAccount, true, resources.StatusActive, false
	} else {
		subject.Assignments = n.held(p, &spot, &target)
	}
	return &stand{spot, p.Keys, resources.Question{
		Principal: caller, AccountID: subject.AccountID, Facts: resources.Facts{Subject: subject, ProjectState: state}, Target: target, Now: now,
	}}
}

// held returns the assignments around a place, moved to the target that stands for it. It returns all if every id counts.
func (n *names) held(p *Person, spot *place, target *resources.Target) (out []resources.HeldRole) {
	for _, h := range p.Subject.Assignments {
		switch {
		case n.all || h.ProjectID == "" && h.ResourceID == "":
		case h.ProjectID != spot.project || h.ResourceID != "" && h.ResourceID != spot.resource:
			continue
		case h.ResourceID == "":
			h.ProjectID = target.ProjectID
		default:
			h.ProjectID, h.ResourceID = target.ProjectID, target.Resource
		}
		if h.Custom && !n.roles {
			h.RoleID = n.mask(h.RoleID, "role-any-v0")
		}
		out = append(out, h)
	}
	return out
}

// key names what the rows of the question's table say of a stand. Two stands with one key get the same answers. The grant shows
// which assignments end.
func (s *stand) key(rows []*question.Row) [sha256.Size]byte {
	q := s.base
	q.Grant = &resources.Grant{}
	return sha256.Sum256(question.AppendKey([]byte(s.kind+"\n"+strings.Join(s.keys, ",")+"\n"), &q, rows))
}

// target returns the target of a row at the place; false where the row is not about such a place.
func (s *stand) target(t resources.Target) (resources.Target, bool) {
	base := &s.base.Target
	if (t.ProjectID == "") != (base.ProjectID == "") || base.Resource != "" && t.Resource == "" {
		return t, false
	}
	t.ProjectID = base.ProjectID
	if base.Resource != "" {
		t.Resource, t.Rest = base.Resource, base.Resource+strings.TrimPrefix(t.Rest, t.Resource)
	}
	if t.UserID == compare.AnyUser {
		t.UserID = s.base.Principal.ID
	}
	if t.AccountID == compare.AnyAccount {
		t.AccountID = s.base.AccountID
		return t, t.AccountID != ""
	}
	return t, t.AccountID == "" || t.AccountID == s.base.AccountID
}
