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

// covering returns the assignments at places that cover the target, as bytes. The policy's term and the key's digest are
// both made of these bytes. Assignments are sorted, and have no place, group or time.
func covering(q *resources.Question) []byte {
	var encoded [][]byte
	assignments := subjectOf(q).Assignments
	for i := range assignments {
		if h := &assignments[i]; covers(h, &q.Target) {
			encoded = append(encoded, appendAssignment(nil, q, h))
		}
	}
	slices.SortFunc(encoded, bytes.Compare)
	b := binary.AppendUvarint(nil, uint64(len(encoded)))
	for _, assignment := range encoded {
		b = append(b, assignment...)
	}
	return b
}

// covers reports whether an assignment's place is the target's or above it. A resource needs a project to be a place.
func covers(h *resources.HeldRole, t *resources.Target) bool {
	if h.ProjectID == "" {
		return h.ResourceID == ""
	}
	return h.ProjectID == t.ProjectID && (h.ResourceID == "" || h.ResourceID == t.Resource)
}

// appendAssignment appends what subject.here says of an assignment; readAssignment reads it again.
func appendAssignment(b []byte, q *resources.Question, h *resources.HeldRole) []byte {
	b = appendFlag(appendText(b, h.RoleID), h.Custom)
	var permissions []string
	if h.Custom {
		permissions = sorted(h.Permissions)
	}
	b = appendTexts(b, permissions)
	b = appendText(b, LevelOf(h.ProjectID, h.ResourceID))
	b = appendText(b, wordAmong(roleScopes(), h.RoleScope))
	b = appendText(b, wordAmong(roleStatuses(), h.RoleStatus))
	b = appendText(b, wordAmong(roleStatuses(), h.Status))
	b = appendFlag(b, q.Now < EndOf(h.ExpiresAt))
	return appendFlag(b, outlastsGrant(q, h))
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
func outlastsGrant(q *resources.Question, h *resources.HeldRole) bool {
	g := q.Grant
	return g != nil && EndOf(g.Until) > 0 && EndOf(g.Until) <= EndOf(h.ExpiresAt)
}

// LevelOf returns the scope of roles that are assigned at a place, "" for a resource without a project.
func LevelOf(project, resource string) string {
	switch {
	case project == "" && resource == "":
		return resources.RoleScopeAccount
	case project == "":
		return ""
	case resource == "":
		return resources.RoleScopeProject
	}
	return resources.RoleScopeResource
}

func hereTerm(q *resources.Question) *ast.Term {
	r := reader{covering(q)}
	assignments := make([]*ast.Term, r.length())
	for i := range assignments {
		assignments[i] = r.readAssignment()
	}
	return ast.ArrayTerm(assignments...)
}

// appendHere appends the digest of subject.here. It is made once for a subject, a place at which something is held, and
// the time until the next assignment ends.
func appendHere(b []byte, q *resources.Question) []byte {
	if len(subjectOf(q).Assignments) == 0 {
		return append(b, 0)
	}
	b = append(b, 1)
	if q.Grant != nil {
		return appendDigest(b, sha256.Sum256(covering(q)))
	}
	digests := digestsOf(q)
	sum := &digests.Sums[narrowest(q, digests.Places)]
	if sum.Load() == nil {
		made := sha256.Sum256(covering(q))
		sum.Store(&made)
	}
	return appendDigest(b, *sum.Load())
}

// narrowest returns the narrowest of the places that covers the target. It names what is held around the target, however
// many other places the subject is asked about. The first place is the account.
func narrowest(q *resources.Question, places []resources.HeldPlace) int {
	if t := &q.Target; t.ProjectID != "" {
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

// digestsOf returns what is known of the subject at the question's time.
func digestsOf(q *resources.Question) *resources.Digests {
	subject := subjectOf(q)
	cached := subject.Digests.Load()
	if cached != nil && cached.From <= q.Now && q.Now < cached.Until {
		return cached
	}
	digests := &resources.Digests{From: math.MinInt64, Until: math.MaxInt64, Places: make([]resources.HeldPlace, 1, 1+len(subject.Assignments))}
	for i := range subject.Assignments {
		h := &subject.Assignments[i]
		if end := EndOf(h.ExpiresAt); end <= q.Now {
			digests.From = max(digests.From, end)
		} else {
			digests.Until = min(digests.Until, end)
		}
		if h.ProjectID != "" { // a resource needs a project to be a place
			digests.Places = append(digests.Places, resources.HeldPlace{ProjectID: h.ProjectID, ResourceID: h.ResourceID})
		}
	}
	slices.SortFunc(digests.Places, byPlace)
	digests.Places = slices.Compact(digests.Places)
	digests.Sums = make([]atomic.Pointer[[sha256.Size]byte], len(digests.Places))
	subject.Digests.CompareAndSwap(cached, digests)
	return digests
}
