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

// fixView is a change that would allow a denied question.
type fixView struct {
	// Number is the position in the API's list, from 1.
	Number int
	resources.Fix
	Steps []stepView
}

// Callable reports whether the console can make every step with API calls.
func (f fixView) Callable() bool {
	return !slices.ContainsFunc(f.Steps, func(s stepView) bool { return s.Method == "" })
}

// Allowed reports whether AuthZEN allows the user every step's call.
func (f fixView) Allowed() bool { return f.Callable() && len(f.Refused()) == 0 }

// Refused returns the reasons why the user may not make the steps, without duplicates.
func (f fixView) Refused() (out []string) {
	for _, step := range f.Steps {
		if step.Method != "" && !step.Judged.Allowed && !slices.Contains(out, step.Judged.Reason) {
			out = append(out, step.Judged.Reason)
		}
	}
	return out
}

// refusedAll returns the reasons, without duplicates, if the user may apply none of the fixes. It returns nothing if they
// may apply one.
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

// Others returns the number of other people that the fix affects. It is 0 if the caller may not know.
func (f fixView) Others() int {
	if f.Affects == nil {
		return 0
	}
	return *f.Affects
}

// Dated reports whether a step assigns a role that can have an end.
func (f fixView) Dated() bool {
	return slices.ContainsFunc(f.Steps, func(s stepView) bool {
		return s.step.Kind == resources.StepAssign || s.step.Kind == resources.StepExtend
	})
}

// Ends reports whether a step needs a new end because it renews an expired assignment.
func (f fixView) Ends() bool { return f.End() != "" }

// End returns the last day of the assignment that the fix makes, or "" if it does not end.
func (f fixView) End() string {
	for _, step := range f.Steps {
		if step.step.Until != 0 {
			return dayOf(step.step.Until)
		}
	}
	return ""
}

// Fingerprint identifies the steps and what else they allow. The form of a fix contains it, and the console applies only
// the fix that the page showed. It ignores the ends, which depend on the time of the question.
func (f fixView) Fingerprint() string {
	sum := sha256.New()
	_, _ = fmt.Fprintln(sum, f.AlsoAllows, f.Others())
	for _, step := range f.Steps {
		one := step.step
		one.Until = 0
		_ = json.NewEncoder(sum).Encode(one) // writing texts to a hash never fails
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// stepView is a step in words, with its API call.
type stepView struct {
	Says []word
	// Method and Path are the API call's. Method is "" if the console can't make the step.
	Method, Path string
	// Judged says whether the user may make the call.
	Judged judged
	step   resources.Step
	// narrower is true if the question is about less than the account.
	narrower bool
}

// fixes returns the fixes with their API calls, and asks whether the user may make these. The names are those that the
// question and the fixes mention.
func (p *page) fixes(q question, all []resources.Fix) ([]fixView, names, error) {
	m := mentioned{users: []string{q.User}, projects: []string{q.Project}}
	for _, fix := range all {
		for _, step := range fix.Steps {
			m.roles, m.groups, m.projects = append(m.roles, step.RoleID), append(m.groups, step.GroupID), append(m.projects, step.ProjectID)
		}
	}
	read, err := p.names(m)
	if err != nil {
		return nil, read, err
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
		return nil, read, err
	}
	for i, answer := range answers {
		steps[i].Judged = answer
	}
	return out, read, nil
}

// callOf returns the API call of a step, or "" if the console can't make the step.
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

// assigneeOf returns the assignee of a step's assignment: the user or a group of theirs.
func assigneeOf(q question, s resources.Step) (kind, id string) {
	if s.GroupID != "" {
		return resources.AssigneeGroup, s.GroupID
	}
	return resources.AssigneeUser, q.User
}

// inWords describes a step.
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
		return []word{spoken("Make the account active again (only the platform can)")}
	case resources.StepActivateRole:
		return slices.Concat([]word{spoken("Make the role ")}, role, []word{spoken(" active again")})
	case resources.StepAddPermission:
		return slices.Concat([]word{spoken("Add "), written(s.Permission), spoken(" to what the role ")}, role, []word{spoken(" permits")})
	case resources.StepUseKey:
		return []word{spoken(fmt.Sprintf("Use an API key with the scopes %v", s.Scopes))}
	}
	return []word{written(sentence(s.Kind))}
}

// Wide reports whether the fix assigns a role in the whole account while the question is about less.
func (f fixView) Wide() bool {
	return slices.ContainsFunc(f.Steps, func(s stepView) bool {
		return s.step.Kind == resources.StepAssign && s.step.ProjectID == "" && s.narrower
	})
}
