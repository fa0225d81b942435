package why

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/portcullis-authz/portcullis/policies/reuse"
	"github.com/portcullis-authz/portcullis/resources"
)

// checkDerived refuses members that the engine makes of others, where the document has them otherwise: the rules would
// be told what the engine makes, and the document would say something else.
func (d *Document) checkDerived() error {
	action, err := resources.ParseAction(d.Action.ID)
	if err != nil {
		return fmt.Errorf("action.id %w", err)
	}
	for _, part := range [][3]string{
		{"scope", d.Action.Scope, action.Scope}, {"resource", d.Action.Resource, action.Resource}, {"verb", d.Action.Verb, action.Verb},
	} {
		if part[1] != "" && part[1] != part[2] {
			return fmt.Errorf("action.%s is %q, and action.id says %q: leave it out, since it is made of the id", part[0], part[1], part[2])
		}
	}
	patterns := action.Patterns()
	if d.Action.Patterns != nil && !slices.Equal(slices.Sorted(slices.Values(d.Action.Patterns)), slices.Sorted(slices.Values(patterns[:]))) {
		return errors.New("action.patterns are not those of action.id: leave them out, since they are made of the id")
	}
	for _, project := range slices.Sorted(maps.Keys(d.Subject.Assignments)) {
		for _, resource := range slices.Sorted(maps.Keys(d.Subject.Assignments[project])) {
			for i, a := range d.Subject.Assignments[project][resource] {
				if level := scopeAt(project, resource); a.Level != "" && a.Level != level {
					return fmt.Errorf("subject.assignments[%q][%q][%d].level is %q, and the place is %q: leave it out, since it is made of the place",
						project, resource, i, a.Level, level)
				}
			}
		}
	}
	if d.Subject.Here != nil && !d.sameHere() {
		return errors.New("subject.here is not what subject.assignments has at the places that cover the target: " +
			"write the assignments there, by project and resource, and leave here out, since it is made of them")
	}
	return nil
}

// sameHere says whether here has the assignments that cover the target, each once and no other one.
func (d *Document) sameHere() bool {
	left := slices.Clone(d.Subject.Here)
	for _, at := range (reuse.Place{Project: d.Target.Project, Resource: d.Target.Resource}).Covering() {
		for _, a := range d.Subject.Assignments[at.Project][at.Resource] {
			i := slices.IndexFunc(left, func(given documentAssignment) bool {
				if given.Level == "" || given.Level == scopeAt(at.Project, at.Resource) {
					given.Level = a.Level
				}
				return given == a
			})
			if i < 0 {
				return false
			}
			left = slices.Delete(left, i, i+1)
		}
	}
	return len(left) == 0
}
