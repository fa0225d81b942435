package console

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// decision is a decision of the account as the API shows it.
type decision struct {
	Labels      map[string]string `json:"labels"`
	ID          string            `json:"decision_id"`
	Parent      string            `json:"parent_id"`
	Path        string            `json:"path"`
	RawInput    json.RawMessage   `json:"input"`
	RawResult   json.RawMessage   `json:"result"`
	Erased      []string          `json:"erased"`
	Masked      []string          `json:"masked"`
	MaskError   string            `json:"mask_error"`
	RequestedBy string            `json:"requested_by"`
	At          resources.Time    `json:"timestamp"`

	// names are of the users whom the decision names.
	names names
}

// recordedFacts are the members of an input that a page names. A mask or an app's policy may have other ones: what does
// not fit is absent.
type recordedFacts struct {
	Action  struct{ ID string }
	Route   struct{ Name string }
	Account struct {
		ID, Status string
		Exists     bool
	}
	Principal struct{ ID, Kind, Credential string }
	Subject   struct {
		ID, Status     string
		Exists, Member bool
		Here           []recordedRole
	}
	Target struct {
		Account, Project, Rest string
		ProjectState           string `json:"project_state"`
		SameAccount            bool   `json:"same_account"`
	}
}

// recordedRole is a role that the subject had in the place.
type recordedRole struct {
	Role, Level, Status string
	RoleStatus          string `json:"role_status"`
	Running             bool
}

// Counted reports whether the role counted.
func (r recordedRole) Counted() bool {
	return r.Running && r.Status == resources.StatusActive && r.RoleStatus == resources.StatusActive
}

// Facts returns what policy read. An app's facts are in a member of its input.
func (d decision) Facts() (out recordedFacts) {
	var app struct {
		Facts json.RawMessage `json:"facts"`
	}
	raw := d.RawInput
	if json.Unmarshal(raw, &app) == nil && app.Facts != nil {
		raw = app.Facts
	}
	if json.Unmarshal(raw, &out) != nil {
		return recordedFacts{}
	}
	return out
}

// recordedResult is the verdict with its reason.
type recordedResult struct {
	Allow, Decision bool
	Code, Reason    string
}

// Verdict returns the verdict. One that a mask removed is shown as a denial with no reason.
func (d decision) Verdict() (out recordedResult) {
	if json.Unmarshal(d.RawResult, &out) != nil {
		return recordedResult{}
	}
	return out
}

// Allowed reports whether the decision allows.
func (d decision) Allowed() bool {
	v := d.Verdict()
	return v.Allow || v.Decision
}

// User is whom the decision is about.
func (d decision) User() string { return cmp.Or(d.Facts().Subject.ID, d.RequestedBy) }

// About is the user in question, with the name if a page has read it.
func (d decision) About() person { return d.names.Person(d.User()) }

// By is the caller, as About.
func (d decision) By() person { return d.names.Person(d.RequestedBy) }

// nameUsers gives decisions the names of the users whom they name.
func (p *page) nameUsers(all []decision) error {
	var m mentioned
	for _, d := range all {
		f := d.Facts()
		if m.users = append(m.users, f.Subject.ID); f.Principal.Kind == resources.PrincipalUser {
			m.users = append(m.users, d.RequestedBy)
		}
	}
	read, err := p.names(m)
	for i := range all {
		all[i].names = read
	}
	return err
}

// ByAnother reports whether somebody else asked.
func (d decision) ByAnother() bool { return d.RequestedBy != "" && d.RequestedBy != d.User() }

// What is the action, the route of a call that needs none, or what was asked.
func (d decision) What() string {
	f := d.Facts()
	return cmp.Or(f.Action.ID, f.Route.Name, d.Path)
}

// Place is where: a path in the account, "" for the account.
func (d decision) Place() string {
	t := d.Facts().Target
	if t.Project == "" {
		return t.Rest
	}
	return strings.TrimSuffix("projects/"+t.Project+"/"+t.Rest, "/")
}

// Link returns the address of the decision's page.
func (d decision) Link() string {
	return linkOf("decisions", d.ID)
}

// Again returns the address that asks the same question now, "" if the decision has no action.
func (d decision) Again() string {
	f := d.Facts()
	if f.Subject.ID == "" || f.Action.ID == "" || !strings.HasPrefix(d.Path, "authz/") {
		return ""
	}
	return question{User: f.Subject.ID, Action: f.Action.ID, Project: f.Target.Project, Resource: strings.Trim(f.Target.Rest, "/")}.Link("/ask")
}

// Kind says what was asked.
func (d decision) Kind() string {
	switch d.Path {
	case "authz/decision":
		return "a question"
	case "authz/access":
		return "a call of the API"
	case "authz/grantable":
		return "whether a grant may be made"
	}
	return d.Path
}

// recordedCondition is a fact on which a verdict could fail, as it was recorded.
type recordedCondition struct {
	Holds bool
	Says  string
}

// Conditions returns those facts.
func (d decision) Conditions() []recordedCondition {
	f := d.Facts()
	if f.Account.ID == "" {
		return nil
	}
	out := []recordedCondition{
		{f.Account.Exists, "the account " + f.Account.ID + " exists"},
		{f.Account.Status == resources.StatusActive, "the account is active (" + cmp.Or(f.Account.Status, "no status") + ")"},
		{f.Subject.Exists, "the user " + f.Subject.ID + " exists"},
		{f.Subject.Member, "the user is a member of the account"},
		{f.Subject.Status == resources.StatusActive, "the user is active (" + cmp.Or(f.Subject.Status, "no status") + ")"},
		{f.Target.SameAccount, "the place is in the account"},
	}
	if f.Target.Project != "" {
		out = append(out, recordedCondition{f.Target.ProjectState == "active", "the project " + f.Target.Project + " is active (" + cmp.Or(f.Target.ProjectState, "unknown") + ")"})
	}
	return out
}
