package console

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// applyView is the data of the page that confirms a fix.
type applyView struct {
	question
	Fix fixView
	// Until is the last day of the role that the fix assigns, or "" if it does not end.
	Until string
	// Names holds the names of the user and the project.
	Names names
	// Done is the number of steps that succeeded before Problem.
	Done    int
	Problem *apiError
}

// Wrong returns the API's problem with the end of the assignment, or "".
func (v applyView) Wrong() string { return v.Problem.Field("expiresAt") }

// errOtherFix refuses to apply a fix after the facts have changed.
var errOtherFix = &apiError{Status: http.StatusConflict, Message: "The facts have changed since this fix was shown. Ask again."}

// fix asks the question again and returns the fix with that number. The facts may have changed since the page was shown.
func (p *page) fix() (*applyView, error) {
	v := &applyView{question: p.question()}
	answer, err := p.explain(v.question)
	if err != nil {
		return nil, err
	}
	if answer.Allowed {
		return nil, &apiError{Status: http.StatusConflict, Message: "It is allowed already."}
	}
	all, names, err := p.fixes(v.question, answer.Fixes)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(f fixView) bool { return f.Fingerprint() == p.field("fix") })
	if i < 0 {
		return nil, errOtherFix
	}
	v.Fix, v.Until, v.Names = all[i], all[i].End(), names
	return v, nil
}

// confirmFix shows the API calls of a fix.
func confirmFix(p *page) error {
	v, err := p.fix()
	if err != nil {
		return p.failFix(err)
	}
	return p.show(http.StatusOK, "apply", "Apply a fix", "/ask", v)
}

// failFix shows why the fix can't be applied, with a link to the question.
func (p *page) failFix(err error) error {
	refused := refusalOf(err)
	if refused == nil {
		return err
	}
	return p.show(refused.Status, "apply", "Apply a fix", "/ask", &applyView{question: p.question(), Problem: refused})
}

// applyFix makes the calls of a fix in order and stops at the first error.
func applyFix(p *page) error {
	v, err := p.fix()
	if err != nil {
		return p.failFix(err)
	}
	v.Until = p.field("until")
	end, problem := endOf(v.Until)
	if v.Until == "" && v.Fix.Ends() {
		problem = "is missing; the role has ended once"
	}
	switch {
	case problem != "":
		v.Problem = &apiError{Status: http.StatusBadRequest, Message: "The request is not valid.", Details: []string{"expiresAt: " + problem}}
	case !v.Fix.Callable():
		v.Problem = &apiError{Status: http.StatusConflict, Message: "The console can't make all of these steps. Use the API for the others."}
	}
	if v.Problem != nil {
		return p.show(v.Problem.Status, "apply", "Apply a fix", "/ask", v)
	}
	for _, step := range v.Fix.Steps {
		if err := p.perform(v.question, step, end); err != nil {
			return p.stopped(v, err)
		}
		v.Done++
	}
	return p.done(v.Link("/ask"), "applied")
}

// stopped shows which steps of a fix were made.
func (p *page) stopped(v *applyView, err error) error {
	refused, ok := errors.AsType[*apiError](err)
	if !ok {
		p.c.cfg.Log.Error("a step of a fix failed", "request_id", p.r.Header.Get("X-Request-ID"), "error", err.Error())
		refused = &apiError{Status: http.StatusBadGateway, Message: "The gateway did not answer. Whether this step was made is not known: ask again."}
	}
	v.Problem = refused
	return p.show(refused.Status, "apply", "Apply a fix", "/ask", v)
}

// perform makes the call of a step. A call that replaces a record reads it first, and changes only what the step names.
func (p *page) perform(q question, step stepView, end resources.Time) (err error) {
	var body any
	switch step.step.Kind {
	case resources.StepActivateUser:
		body = map[string]string{"status": resources.StatusActive}
	case resources.StepActivateRole, resources.StepAddPermission:
		body, err = p.changedRole(step.step)
	default:
		body, err = p.assignment(q, step.step, end)
	}
	if err != nil {
		return err
	}
	return p.api.call(p.r.Context(), step.Method, step.Path, p.inAccount(), body, nil)
}

// assignmentBody is an assignment in the API's form.
type assignmentBody struct {
	AssigneeType string         `json:"assigneeType"`
	RoleID       string         `json:"roleId,omitempty"`
	ProjectID    string         `json:"projectId,omitempty"`
	ResourceID   string         `json:"resourceId,omitempty"`
	Status       string         `json:"status,omitempty"`
	ExpiresAt    resources.Time `json:"expiresAt,omitzero"`
}

// assignment returns the assignment after a step. A reactivated assignment keeps its end.
func (p *page) assignment(q question, s resources.Step, end resources.Time) (assignmentBody, error) {
	kind, assignee := assigneeOf(q, s)
	body := assignmentBody{kind, "", s.ProjectID, s.ResourceID, resources.StatusActive, end}
	if s.Kind != resources.StepActivateAssignment {
		return body, nil
	}
	held, err := p.heldAssignment(kind, assignee, s)
	body.ExpiresAt = held.ExpiresAt
	return body, err
}

// heldAssignment reads the assignment that a step reactivates.
func (p *page) heldAssignment(kind, assignee string, s resources.Step) (assignmentBody, error) {
	query := map[string][]string{"role": {s.RoleID}, "assignee": {assignee}}
	for {
		var answer struct {
			Assignments []assignmentBody `json:"assignments"`
			Next        string           `json:"next_page_token"`
		}
		if err := p.api.get(p.r.Context(), p.account("assignments"), query, &answer); err != nil {
			return assignmentBody{}, err
		}
		for _, one := range answer.Assignments {
			if one.AssigneeType == kind && one.ProjectID == s.ProjectID && one.ResourceID == s.ResourceID {
				return one, nil
			}
		}
		if answer.Next == "" {
			return assignmentBody{}, errOtherFix
		}
		query["page_token"] = []string{answer.Next}
	}
}

// roleBody is a role in the API's form.
type roleBody struct {
	Name        string   `json:"name"`
	Scope       string   `json:"scope"`
	Permissions []string `json:"permissions"`
	Description string   `json:"description,omitempty"`
	ProjectID   string   `json:"projectId,omitempty"`
	Status      string   `json:"status,omitempty"`
}

// changedRole returns a step's role after the step.
func (p *page) changedRole(s resources.Step) (role roleBody, err error) {
	if err := p.api.get(p.r.Context(), p.account("roles", s.RoleID), nil, &role); err != nil {
		return role, err
	}
	switch {
	case s.Kind == resources.StepActivateRole:
		role.Status = resources.StatusActive
	case !slices.Contains(role.Permissions, s.Permission):
		role.Permissions = append(role.Permissions, s.Permission)
	}
	return role, nil
}

// dayForm is the layout of a day in a form.
const dayForm = time.DateOnly

// dayOf returns the day of a time, in UTC.
func dayOf(t resources.Time) string { return time.UnixMilli(int64(t)).UTC().Format(dayForm) }

// endOf parses a day and returns its end in UTC, or 0 for "". problem describes any other text.
func endOf(day string) (end resources.Time, problem string) {
	if day == "" {
		return 0, ""
	}
	t, err := time.Parse(dayForm, day)
	if err != nil {
		return 0, "must be a day, as 2030-01-31"
	}
	return resources.At(t.AddDate(0, 0, 1).Add(-time.Second)), ""
}
