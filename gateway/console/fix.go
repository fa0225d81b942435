package console

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
)

// fixView is a change after which a question is allowed.
type fixView struct {
	// Number is its place in the answer, from 1.
	Number int
	resources.Fix
	Steps []stepView
}

// Callable reports whether calls of the API make every step.
func (f fixView) Callable() bool {
	for _, step := range f.Steps {
		if step.Method == "" {
			return false
		}
	}
	return true
}

// Allowed reports whether the user may make the calls of every step, as far as AuthZEN says.
func (f fixView) Allowed() bool { return f.Callable() && len(f.Refused()) == 0 }

// Refused returns why the user may not make steps, each reason once.
func (f fixView) Refused() (out []string) {
	for _, step := range f.Steps {
		if step.Method != "" && !step.Judged.Allowed && !slices.Contains(out, step.Judged.Reason) {
			out = append(out, step.Judged.Reason)
		}
	}
	return out
}

// refusedAll returns why the user may apply none of the fixes, each reason once, and nothing if they may apply one.
func refusedAll(all []fixView) (out []string) {
	for _, one := range all {
		if one.Allowed() {
			return nil
		}
		for _, reason := range one.Refused() {
			if !slices.Contains(out, reason) {
				out = append(out, reason)
			}
		}
	}
	return out
}

// Others returns how many other people the fix touches, 0 also if the caller may not know.
func (f fixView) Others() int {
	if f.Affects == nil {
		return 0
	}
	return *f.Affects
}

// Dated reports whether a step gives a role that can end by itself.
func (f fixView) Dated() bool {
	for _, step := range f.Steps {
		if step.step.Kind == resources.StepAssign || step.step.Kind == resources.StepExtend {
			return true
		}
	}
	return false
}

// Ends reports whether a step needs a new end: it gives a role again after the old end.
func (f fixView) Ends() bool { return f.End() != "" }

// End returns the day until which the fix lets somebody keep a role, "" for no end.
func (f fixView) End() string {
	for _, step := range f.Steps {
		if step.step.Until != 0 {
			return dayOf(step.step.Until)
		}
	}
	return ""
}

// Fingerprint names the steps. The form of a fix carries it, and no other fix is applied. It does not
// depend on the ends, which move with the time of the question.
func (f fixView) Fingerprint() string {
	sum := sha256.New()
	for _, step := range f.Steps {
		one := step.step
		one.Until = 0
		_ = json.NewEncoder(sum).Encode(one) // texts and a hash never fail
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// stepView is a step in words, with the call of the API that makes it.
type stepView struct {
	Says []word
	// Method and Path are the call's; an empty method is that no call of the console makes the step.
	Method, Path string
	// Judged is whether the user may make the call.
	Judged judged
	step   resources.Step
	// narrower is that the question is about less than the account.
	narrower bool
}

// fixes returns the fixes with their calls, and whether the user may make them.
func (p *page) fixes(q question, all []resources.Fix) ([]fixView, error) {
	m := mentioned{users: []string{q.User}}
	for _, fix := range all {
		for _, step := range fix.Steps {
			m.roles, m.groups, m.projects = append(m.roles, step.RoleID), append(m.groups, step.GroupID), append(m.projects, step.ProjectID)
		}
	}
	read, err := p.names(m)
	if err != nil {
		return nil, err
	}
	out := make([]fixView, len(all))
	var calls []tuple
	var steps []*stepView
	for i, fix := range all {
		out[i] = fixView{Number: i + 1, Fix: fix, Steps: make([]stepView, len(fix.Steps))}
		for j, step := range fix.Steps {
			one := &out[i].Steps[j]
			*one = stepView{Says: inWords(q, step, read), step: step, narrower: q.Project != ""}
			if one.Method, one.Path = p.callOf(q, step); one.Method != "" {
				calls, steps = append(calls, p.aboutCall(one.Method, one.Path)), append(steps, one)
			}
		}
	}
	answers, err := p.evaluate(calls)
	if err != nil {
		return nil, err
	}
	for i, answer := range answers {
		steps[i].Judged = answer
	}
	return out, nil
}

// callOf returns the call that makes a step, "" for none.
func (p *page) callOf(q question, s resources.Step) (method, path string) {
	switch s.Kind {
	case resources.StepAssign, resources.StepExtend, resources.StepActivateAssignment:
		_, assignee := assigneeOf(q, s)
		return http.MethodPut, p.account("roles", s.RoleID, "assignments", assignee)
	case resources.StepActivateUser:
		return http.MethodPut, "/api/v1/users/" + url.PathEscape(q.User)
	case resources.StepActivateRole, resources.StepAddPermission:
		return http.MethodPut, p.account("roles", s.RoleID)
	}
	return "", ""
}

// assigneeOf returns the holder of a step's assignment: the user or their group.
func assigneeOf(q question, s resources.Step) (kind, id string) {
	if s.GroupID != "" {
		return resources.AssigneeGroup, s.GroupID
	}
	return resources.AssigneeUser, q.User
}

// inWords says what a step does.
func inWords(q question, s resources.Step, n names) []word {
	assignee := []word{n.user(q.User)}
	if s.GroupID != "" {
		assignee = []word{spoken("the group "), n.group(s.GroupID)}
	}
	place := []word{spoken(" in the whole account")}
	switch {
	case s.ResourceID != "":
		place = []word{spoken(" on "), written(s.ResourceID), spoken(" in "), n.project(s.ProjectID)}
	case s.ProjectID != "":
		place = []word{spoken(" in "), n.project(s.ProjectID)}
	}
	role := []word{n.role(s.RoleID)}
	switch s.Kind {
	case resources.StepAssign:
		return slices.Concat([]word{spoken("Give ")}, assignee, []word{spoken(" the role ")}, role, place)
	case resources.StepExtend:
		return slices.Concat([]word{spoken("Let ")}, assignee, []word{spoken(" have the role ")}, role, place, []word{spoken(" again, which has ended")})
	case resources.StepActivateAssignment:
		return slices.Concat([]word{spoken("Make the role ")}, role, []word{spoken(" of ")}, assignee, place, []word{spoken(" active again")})
	case resources.StepActivateUser:
		return []word{spoken("Make the user "), n.user(q.User), spoken(" active again")}
	case resources.StepActivateAccount:
		return []word{spoken("Make the account active again, which only the platform does")}
	case resources.StepActivateRole:
		return slices.Concat([]word{spoken("Make the role ")}, role, []word{spoken(" active again")})
	case resources.StepAddPermission:
		return slices.Concat([]word{spoken("Add "), written(s.Permission), spoken(" to what the role ")}, role, []word{spoken(" permits")})
	case resources.StepUseKey:
		return []word{spoken(fmt.Sprintf("Use an API key with the scopes %v", s.Scopes))}
	}
	return []word{written(sentence(s.Kind))}
}

// Wide reports whether the fix gives a role that counts in the whole account, though the question is about less.
func (f fixView) Wide() bool {
	return slices.ContainsFunc(f.Steps, func(s stepView) bool {
		return s.step.Kind == resources.StepAssign && s.step.ProjectID == "" && s.narrower
	})
}
