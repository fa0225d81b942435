package engine

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// keyRoom is the room that a key has before it takes memory.
const keyRoom = 512

// keyPlan says what tells the questions to one entry point apart: the values that its
// rules can read. Which rules count is different for the kinds of principals (branches.go); the
// kind is a part of the key wherever that makes a difference, the first one.
type keyPlan struct {
	entry  int
	leaves []leaf // for any other kind
	byKind []kindLeaves
}

type kindLeaves struct {
	kind   string
	leaves []leaf
}

func (p *keyPlan) leavesFor(kind string) []leaf {
	for i := range p.byKind {
		if p.byKind[i].kind == kind {
			return p.byKind[i].leaves
		}
	}
	return p.leaves
}

// inputPath is a value of the input and the leaves on which it rests.
type inputPath struct {
	path   string
	leaves []leaf
}

// inputPaths are all values of the input (policies/schemas/input). What is known of
// the subject is told apart as a whole.
func inputPaths() []inputPath {
	on := func(path string, leaves ...leaf) inputPath { return inputPath{path, leaves} }
	return []inputPath{
		on("action.id", actionID), on("action.scope", actionScope), on("action.resource", actionResource), on("action.verb", actionVerb),
		on("action.patterns", actionID, actionScope, actionResource, actionVerb),
		on("principal.kind", principalKind), on("principal.id", principalID), on("principal.uuid", principalUUID),
		on("principal.account", principalAccount), on("principal.credential", principalCredential),
		on("principal.scopes", principalScopes), on("principal.key_scopes", principalKeyScopes),
		on("route.name", routeName), on("route.effect", routeEffect), on("route.access", routeAccess),
		on("account", subjectFacts, accountNamed),
		on("subject.id", subjectFacts), on("subject.exists", subjectFacts), on("subject.status", subjectFacts),
		on("subject.member", subjectFacts), on("subject.roles", subjectFacts), on("subject.assignments", period, subjectFacts),
		on("subject.here", here, period, subjectFacts),
		on("target.account", targetAccount), on("target.project", targetProject), on("target.project_state", targetProjectState),
		on("target.resource", targetResource), on("target.rest", targetRest), on("target.user", targetUser),
		on("grant.permissions", grantPermissions), on("grant.until", grantUntil),
	}
}

// newKeyPlan is nil where no verdict of the entry point may be reused.
func newKeyPlan(c *ast.Compiler, entry string) *keyPlan {
	rules := reachable(c, entry)
	paths, ok := inputsOf(rules)
	if !ok || slices.ContainsFunc(paths, readsTime) {
		return nil
	}
	plan := &keyPlan{entry: slices.Index(entries(), entry), leaves: leavesOf(paths)}
	for _, kind := range kinds() {
		paths, _ := inputsOf(branchesFor(c, entry, kind))
		plan.byKind = append(plan.byKind, kindLeaves{kind, leavesOf(paths)})
	}
	return plan
}

// readsTime says whether a path is that of the time, or of the whole input, which has the time in it.
func readsTime(path string) bool { return path == "" || within(path, "now") }

// leavesOf are those on which the values at the paths rest.
func leavesOf(paths []string) (leaves []leaf) {
	var read [allLeaves]bool
	for _, known := range inputPaths() {
		for _, path := range paths {
			if within(path, known.path) || within(known.path, path) {
				for _, l := range known.leaves {
					read[l] = true
				}
			}
		}
	}
	for l := range allLeaves {
		if read[l] {
			leaves = append(leaves, l)
		}
	}
	return leaves
}

// within says whether the value at a path is the one at the other, or below it; "" is
// the whole input.
func within(path, other string) bool {
	return other == "" || path == other || strings.HasPrefix(path, other+".")
}

// key appends what names the question's verdict; nil where none may be reused. Every
// part is of fixed length or comes after its length, so no two questions share a key.
func (s *Set) key(b []byte, entry string, a *asked) []byte {
	plan := s.queries[entry].key
	if s.memo == nil || plan == nil {
		return nil
	}
	known := s.words.subject(a.subject)
	b = binary.AppendVarint(b, int64(plan.entry))
	for _, l := range plan.leavesFor(a.texts[principalKind]) {
		switch {
		case l < textLeaves:
			b = appendText(b, a.texts[l])
		case l < listLeaves:
			b = appendList(b, a.list(l))
		case l == grantUntil:
			b = binary.AppendVarint(b, int64(a.until))
		case l == subjectFacts:
			b = append(b, known.digest[:]...)
		case l == period:
			b = binary.AppendVarint(b, int64(known.period(a.now)))
		case l == here:
			at := known.narrowest(place{a.texts[targetProject], a.texts[targetResource]})
			b = appendText(appendText(b, at.project), at.resource)
		}
	}
	return b
}

// until is when the verdict of an equal question may be another one: when the next
// assignment ends, where that can be read; at once, where it isn't a function of its key.
func (s *Set) until(entry string, a *asked) resources.Time {
	switch plan := s.queries[entry].key; {
	case plan == nil:
		return 0
	case !slices.Contains(plan.leavesFor(a.texts[principalKind]), period):
		return never
	}
	return s.words.subject(a.subject).until(a.now)
}

func appendList(b []byte, list []string) []byte {
	b = binary.AppendVarint(b, int64(len(list)))
	for _, member := range list {
		b = appendText(b, member)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendVarint(b, int64(len(s))), s...)
}
