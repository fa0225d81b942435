package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// overviewPages returns the handlers of the overview, by pattern.
func overviewPages() map[string]func(*page) error {
	return map[string]func(*page) error{"GET /{$}": overview}
}

// overviewView is the data of the overview. A section that the user may not read is nil.
type overviewView struct {
	Status  *installation
	History []policyEntry
	Denials *denials
	Ending  *listedAssignments
	Admins  *listedAssignments
	Invited *invitations
	Tries   []try
	// Waiting are calls that wait for the user's approval.
	Waiting []approval
	// Names holds the names of the assignees.
	Names names
}

type listedAssignments struct {
	Assignments []assignment `json:"assignments"`
	Next        string       `json:"next_page_token"`
}

// invitations are the invited people among the first members who have not accepted.
type invitations struct {
	People []person
	// More is true if the account has more members than the page read.
	More bool
}

// try is a suggestion for a new user.
type try struct{ Says, Link string }

const (
	// endsWithin is the time within which an assignment on the overview ends.
	endsWithin = 7 * 24 * time.Hour
	// fewMembers is the largest number of members of an account that gets suggestions.
	fewMembers = 10
	// mostTries limits the denials among the suggestions, which are among the lastDenials of the account.
	mostTries   = 2
	lastDenials = "20"
)

// read reads a section of the overview. It returns false if the API refuses or the gateway does not have it.
func (p *page) read(path string, query url.Values, out any) (bool, error) {
	err := p.api.get(p.r.Context(), path, query, out)
	if _, refused := isRefusal(err, http.StatusForbidden, http.StatusNotFound); refused {
		return false, nil
	}
	return err == nil, err
}

func overview(p *page) error {
	v := overviewView{}
	for _, section := range []func(*overviewView) error{p.installed, p.waiting, p.denied, p.grants, p.newcomers} {
		if err := section(&v); err != nil {
			return err
		}
	}
	return p.show(http.StatusOK, "overview", "Overview", "/", v)
}

// installed adds the sections for operators.
func (p *page) installed(v *overviewView) error {
	var status installation
	ok, err := p.private("/status", &status)
	if err != nil || !ok {
		return err
	}
	v.Status = &status
	v.History, err = p.policyHistory()
	v.History = v.History[:min(3, len(v.History))]
	return err
}

// grants adds the admins of the account and the assignments that end soon.
func (p *page) grants(v *overviewView) error {
	soon := resources.At(p.c.cfg.Now().Add(endsWithin)).String()
	for _, list := range []struct {
		query url.Values
		out   **listedAssignments
	}{
		{url.Values{"status": {resources.StatusActive}, "expires_before": {soon}, "page_size": {"20"}}, &v.Ending},
		{url.Values{"status": {resources.StatusActive}, "role": {"account_admin"}, "page_size": {"20"}}, &v.Admins},
	} {
		var answer listedAssignments
		ok, err := p.read(p.account("assignments"), list.query, &answer)
		if err != nil {
			return err
		}
		if ok {
			*list.out = &answer
		}
	}
	var m mentioned
	for _, list := range []*listedAssignments{v.Ending, v.Admins} {
		if list != nil {
			m.addHolders(list.Assignments)
		}
	}
	var err error
	v.Names, err = p.names(m)
	return err
}

// newcomers adds the open invitations and, in a small account, suggestions.
func (p *page) newcomers(v *overviewView) error {
	var users struct {
		Users []person `json:"users"`
		Next  string   `json:"next_page_token"`
	}
	ok, err := p.read(p.account("users"), url.Values{"page_size": {"100"}}, &users)
	if err != nil {
		return err
	}
	if ok {
		v.Invited = &invitations{More: users.Next != ""}
		for _, one := range users.Users {
			if one.Status == resources.StatusInvited {
				v.Invited.People = append(v.Invited.People, one)
			}
		}
	}
	if len(users.Users) > fewMembers {
		return nil
	}
	return p.tries(v, users.Users)
}

// tries adds suggestions about the account's people and projects.
func (p *page) tries(v *overviewView, people []person) error {
	var err error
	if v.Tries, err = p.deniedMembers(v, people); err != nil {
		return err
	}
	if len(v.Tries) == 0 {
		if v.Tries, err = p.example(people, v.Denials == nil); err != nil {
			return err
		}
	}
	if v.Denials == nil { // the user may not ask about others
		v.Tries = append(v.Tries, try{"What may I do here?", "/who?find=actions"})
		return nil
	}
	v.Tries = append(v.Tries, try{"Who can do what here?", "/who"}, try{"Watch decisions as they are made", "/decisions?verdict=all"}, try{"Who changed what, and undo it", "/changes"})
	if v.Status != nil {
		v.Tries = append(v.Tries, try{"Read the policy in force", "/policy"})
	}
	return nil
}

// deniedMembers returns the last denials of the hour about at most mostTries members.
func (p *page) deniedMembers(v *overviewView, people []person) (out []try, err error) {
	if v.Denials == nil || v.Denials.Count == 0 {
		return nil, nil
	}
	var last decisionPage
	query := url.Values{"verdict": {"deny"}, "since": {"1h"}, "path": {"authz/decision"}, "lookups": {"false"}, "page_size": {lastDenials}}
	if ok, err := p.read(p.account("decisions"), query, &last); err != nil || !ok {
		return nil, err
	}
	asked := map[string]bool{}
	for _, d := range last.Decisions {
		f := d.Facts()
		i := slices.IndexFunc(people, func(one person) bool { return one.ID == f.Subject.ID })
		if i < 0 || f.Action.ID == "" || asked[f.Subject.ID] {
			continue
		}
		asked[f.Subject.ID] = true
		q := question{User: f.Subject.ID, Action: f.Action.ID, Project: f.Target.Project, Resource: strings.Trim(f.Target.Rest, "/")}
		out = append(out, try{"Why may " + cmp.Or(people[i].Name, people[i].ID) + " not do " + q.Action + "?", q.Link("/ask")})
		if len(out) == mostTries {
			break
		}
	}
	return out, nil
}

// example returns a question in the first project about another member, or about the user.
func (p *page) example(people []person, self bool) ([]try, error) {
	var projects struct {
		Projects []project `json:"projects"`
	}
	if _, err := p.read(p.account("projects"), url.Values{"page_size": {"1"}}, &projects); err != nil || len(projects.Projects) == 0 {
		return nil, err
	}
	const action = "project:instance:create"
	for _, one := range people {
		if self == (one.ID == p.session.UserID) {
			name := cmp.Or(one.Name, one.ID)
			if self {
				name = "I"
			}
			q := question{User: one.ID, Action: action, Project: projects.Projects[0].ID, Resource: "instances"}
			return []try{{"May " + name + " do " + action + " in " + projects.Projects[0].Name + "?", q.Link("/ask")}}, nil
		}
	}
	return nil, nil
}
