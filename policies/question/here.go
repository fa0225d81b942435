package question

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// here returns the assignments whose place covers the target, in the bytes of which both are made: the term that the
// policy reads and the digest that a key holds. They are sorted by what they say, and name no place, group or time.
func (in *Input) here() []byte {
	var found [][]byte
	for i := range in.subject.Assignments {
		if h := &in.subject.Assignments[i]; covers(h, &in.q.Target) {
			found = append(found, in.appendAssignment(nil, h))
		}
	}
	slices.SortFunc(found, bytes.Compare)
	b := binary.AppendUvarint(nil, uint64(len(found)))
	for _, assignment := range found {
		b = append(b, assignment...)
	}
	return b
}

// covers says whether the place of an assignment is the target's or above it. A resource of no project is no place.
func covers(h *resources.HeldRole, t *resources.Target) bool {
	if h.ProjectID == "" {
		return h.ResourceID == ""
	}
	return h.ProjectID == t.ProjectID && (h.ResourceID == "" || h.ResourceID == t.Resource)
}

// appendAssignment appends what subject.here says of an assignment; readAssignment reads it again.
func (in *Input) appendAssignment(b []byte, h *resources.HeldRole) []byte {
	b = appendFlag(appendText(b, h.RoleID), h.Custom)
	var permissions []string
	if h.Custom {
		permissions = sorted(h.Permissions)
	}
	b = appendTexts(b, permissions)
	b = appendText(b, levelOf(h))
	b = appendText(b, wordAmong(roleScopes(), h.RoleScope))
	b = appendText(b, wordAmong(roleStatuses(), h.RoleStatus))
	b = appendText(b, wordAmong(roleStatuses(), h.Status))
	b = appendFlag(b, in.q.Now < EndOf(h.ExpiresAt))
	return appendFlag(b, in.outlastsGrant(h))
}

// readAssignment returns an assignment as the policy reads it.
func (r *reader) readAssignment() *ast.Term {
	return ast.ObjectTerm(
		field("role", term(r.text())), field("custom", r.flag()), field("permissions", set(r.texts())),
		field("level", term(r.text())), field("role_scope", term(r.text())), field("role_status", term(r.text())),
		field("status", term(r.text())), field("running", r.flag()), field("outlasts_grant", r.flag()),
	)
}

// outlastsGrant says whether an assignment ends no sooner than what is to be granted; false where nothing is.
func (in *Input) outlastsGrant(h *resources.HeldRole) bool {
	g := in.q.Grant
	return g != nil && EndOf(g.Until) > 0 && EndOf(g.Until) <= EndOf(h.ExpiresAt)
}

// levelOf names where an assignment stands, in the words of role scopes; a resource of no project is no place.
func levelOf(h *resources.HeldRole) string {
	switch {
	case h.ProjectID == "" && h.ResourceID == "":
		return resources.RoleScopeAccount
	case h.ProjectID == "":
		return ""
	case h.ResourceID == "":
		return resources.RoleScopeProject
	}
	return resources.RoleScopeResource
}

func (in *Input) hereTerm() *ast.Term {
	r := reader{in.here()}
	assignments := make([]*ast.Term, r.length())
	for i := range assignments {
		assignments[i] = r.readAssignment()
	}
	return ast.ArrayTerm(assignments...)
}

// appendHere appends the digest of subject.here. It is made once for a subject, a place at which something is held, and
// the time until the next assignment ends.
func (in *Input) appendHere(b []byte) []byte {
	if len(in.subject.Assignments) == 0 {
		return append(b, 0)
	}
	b = append(b, 1)
	if in.q.Grant != nil {
		return appendDigest(b, sha256.Sum256(in.here()))
	}
	known := in.digests()
	sum := &known.Sums[in.narrowest(known.Places)]
	if sum.Load() == nil {
		made := sha256.Sum256(in.here())
		sum.Store(&made)
	}
	return appendDigest(b, *sum.Load())
}

// narrowest returns the narrowest of the places that covers the target. It names what is held around the target, however
// many other places the subject is asked about. The first place is the account.
func (in *Input) narrowest(places []resources.HeldPlace) int {
	if t := &in.q.Target; t.ProjectID != "" {
		for _, resource := range [...]string{t.Resource, ""} {
			if i, held := slices.BinarySearchFunc(places, resources.HeldPlace{ProjectID: t.ProjectID, ResourceID: resource}, byPlace); held {
				return i
			}
		}
	}
	return 0
}

func byPlace(a, b resources.HeldPlace) int {
	return cmp.Or(strings.Compare(a.ProjectID, b.ProjectID), strings.Compare(a.ResourceID, b.ResourceID))
}

// digests returns what is known of the subject at the question's time.
func (in *Input) digests() *resources.Digests {
	known := in.subject.Digests.Load()
	if known != nil && known.From <= in.q.Now && in.q.Now < known.Until {
		return known
	}
	fresh := &resources.Digests{From: math.MinInt64, Until: math.MaxInt64, Places: make([]resources.HeldPlace, 1, 1+len(in.subject.Assignments))}
	for i := range in.subject.Assignments {
		h := &in.subject.Assignments[i]
		if end := EndOf(h.ExpiresAt); end <= in.q.Now {
			fresh.From = max(fresh.From, end)
		} else {
			fresh.Until = min(fresh.Until, end)
		}
		if h.ProjectID != "" { // a resource of no project is no place
			fresh.Places = append(fresh.Places, resources.HeldPlace{ProjectID: h.ProjectID, ResourceID: h.ResourceID})
		}
	}
	slices.SortFunc(fresh.Places, byPlace)
	fresh.Places = slices.Compact(fresh.Places)
	fresh.Sums = make([]atomic.Pointer[[sha256.Size]byte], len(fresh.Places))
	in.subject.Digests.CompareAndSwap(known, fresh)
	return fresh
}
