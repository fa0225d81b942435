package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/portcullis-authz/portcullis/resources"
)

// fixView is a change after which a question is allowed.
type fixView struct {
	// Number is its place in the answer, from 1.
	Number int
	resources.Fix
	Steps []stepView
}

// Callable reports whether the API can make every step.
func (f fixView) Callable() bool {
	for _, step := range f.Steps {
		if step.Method == "" {
			return false
		}
	}
	return true
}

// Others returns how many other people the fix touches, 0 also where the caller may not know.
func (f fixView) Others() int {
	if f.Affects == nil {
		return 0
	}
	return *f.Affects
}

// stepView is a step in words, with the call of the API that makes it.
type stepView struct {
	Says string
	// Method and Path are the call's; an empty method is that no call of the console makes the step.
	Method, Path string
	Body         any
	step         resources.Step
}

// stepsOf says what the steps of a fix are.
func stepsOf(q question, fix resources.Fix) (out []stepView) {
	for _, step := range fix.Steps {
		out = append(out, stepView{Says: inWords(q, step), step: step})
	}
	return out
}

// inWords says what a step does.
func inWords(q question, s resources.Step) string {
	assignee := q.User
	if s.GroupID != "" {
		assignee = "the group " + s.GroupID
	}
	place := "in the whole account"
	if s.ResourceID != "" {
		place = "on " + s.ResourceID
	}
	if s.ProjectID != "" {
		place += map[bool]string{true: " in " + s.ProjectID, false: ""}[s.ResourceID != ""]
		if s.ResourceID == "" {
			place = "in " + s.ProjectID
		}
	}
	switch s.Kind {
	case resources.StepAssign:
		return fmt.Sprintf("Give %s the role %s %s", assignee, s.RoleID, place)
	case resources.StepExtend:
		return fmt.Sprintf("Let %s keep the role %s %s until %s", assignee, s.RoleID, place, momentOf(s.Until))
	case resources.StepActivateAssignment:
		return fmt.Sprintf("Make the role %s of %s %s active", s.RoleID, assignee, place)
	case resources.StepActivateUser:
		return fmt.Sprintf("Make the user %s active", q.User)
	case resources.StepActivateAccount:
		return "Have the platform make the account active"
	case resources.StepActivateRole:
		return fmt.Sprintf("Make the role %s active", s.RoleID)
	case resources.StepAddPermission:
		return fmt.Sprintf("Add %s to the role %s", s.Permission, s.RoleID)
	case resources.StepUseKey:
		return fmt.Sprintf("Use an API key with the scopes %v", s.Scopes)
	}
	return s.Kind
}

// withCalls adds the calls that make the steps. A role is read for the steps that change it.
func (p *page) withCalls(q question, steps []stepView) error {
	for i := range steps {
		s := &steps[i]
		switch s.step.Kind {
		case resources.StepAssign, resources.StepExtend, resources.StepActivateAssignment:
			s.Method, s.Path, s.Body = p.assignment(q, s.step)
		case resources.StepActivateUser:
			s.Method, s.Path, s.Body = http.MethodPut, "/api/v1/users/"+url.PathEscape(q.User), map[string]string{"status": resources.StatusActive}
		case resources.StepActivateRole, resources.StepAddPermission:
			role, err := p.role(s.step.RoleID)
			if err != nil {
				return err
			}
			if s.step.Kind == resources.StepActivateRole {
				role.Status = resources.StatusActive
			} else {
				role.Permissions = append(role.Permissions, s.step.Permission)
			}
			s.Method, s.Path, s.Body = http.MethodPut, p.account("roles", s.step.RoleID), role
		}
	}
	return nil
}

// assignment returns the call that gives a role, or one that has ended again.
func (p *page) assignment(q question, s resources.Step) (method, path string, body any) {
	put := struct {
		AssigneeType string         `json:"assigneeType"`
		RoleID       string         `json:"roleId,omitempty"`
		ProjectID    string         `json:"projectId,omitempty"`
		ResourceID   string         `json:"resourceId,omitempty"`
		Status       string         `json:"status"`
		ExpiresAt    resources.Time `json:"expiresAt,omitzero"`
	}{resources.AssigneeUser, "", s.ProjectID, s.ResourceID, resources.StatusActive, s.Until}
	assignee := q.User
	if s.GroupID != "" {
		assignee, put.AssigneeType = s.GroupID, resources.AssigneeGroup
	}
	return http.MethodPut, p.account("roles", s.RoleID, "assignments", assignee), put
}

// roleBody is a role as the API reads and shows it.
type roleBody struct {
	Name        string   `json:"name"`
	Scope       string   `json:"scope"`
	Permissions []string `json:"permissions"`
	Description string   `json:"description,omitempty"`
	ProjectID   string   `json:"projectId,omitempty"`
	Status      string   `json:"status,omitempty"`
}

func (p *page) role(id string) (out roleBody, err error) {
	return out, p.api.get(p.r.Context(), p.account("roles", id), nil, &out)
}

// applyView is the page on which a fix is confirmed.
type applyView struct {
	question
	Fix fixView
	// Done is how many steps were made before one was refused.
	Done    int
	Problem *apiError
}

// fix asks the question anew and returns the fix with that number, with its calls. The facts may have changed since
// the fix was shown: the one of now counts.
func (p *page) fix() (*applyView, error) {
	v := &applyView{question: p.question()}
	answer, err := p.explain(v.question)
	if err != nil {
		return nil, err
	}
	number, err := strconv.Atoi(p.field("fix"))
	if err != nil || number < 1 || number > len(answer.Fixes) {
		return nil, &apiError{Status: http.StatusConflict, Message: "The question has no such fix any more. Ask again."}
	}
	v.Fix = fixView{Number: number, Fix: answer.Fixes[number-1], Steps: stepsOf(v.question, answer.Fixes[number-1])}
	return v, p.withCalls(v.question, v.Fix.Steps)
}

// confirmFix shows the calls that a fix makes.
func confirmFix(p *page) error {
	v, err := p.fix()
	if err != nil {
		return err
	}
	return p.show(http.StatusOK, "apply", "Apply a fix", "/ask", v)
}

// applyFix makes the calls of a fix, in order, until one is refused.
func applyFix(p *page) error {
	v, err := p.fix()
	if err != nil {
		return err
	}
	if p.field("steps") != v.Fix.Fingerprint() {
		return &apiError{Status: http.StatusConflict, Message: "The fix is another one now. Ask again."}
	}
	for _, step := range v.Fix.Steps {
		if step.Method == "" {
			return &apiError{Status: http.StatusConflict, Message: "No call of the console makes this step: " + step.Says + "."}
		}
		err := p.api.call(p.r.Context(), step.Method, step.Path, nil, step.Body, nil)
		if refused, ok := isRefusal(err, http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusConflict); ok {
			v.Problem = refused
			return p.show(refused.Status, "apply", "Apply a fix", "/ask", v)
		}
		if err != nil {
			return err
		}
		v.Done++
	}
	return p.done(v.Link("/ask"), "applied")
}

// Fingerprint returns the steps as one text. The form that confirms a fix carries it, so that no other fix is applied.
func (f fixView) Fingerprint() (out string) {
	for _, step := range f.Steps {
		out += step.Says + "\n"
	}
	return out
}
