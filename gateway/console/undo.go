package console

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// undoCall is the API call that undoes a change.
type undoCall struct {
	// Action is the action that the call needs.
	Action       string
	Method, Path string
	Query        url.Values
	Body         any
}

// undoActions are the actions of all undo calls.
var undoActions = []string{"account:role_assignment:update", "account:role_assignment:delete", "account:group:update", "account:user:update", "account:role:update"}

// inverse returns the call that undoes the change, or nil if no single call can.
func (c change) inverse() *undoCall {
	switch c.Subject.Type {
	case "role_assignment":
		return c.inverseAssignment()
	case "group_member":
		before, after := sides[changedSubject](c)
		u := &undoCall{Action: "account:group:update", Method: http.MethodPut, Path: linkOf("groups", before.GroupID, "members", c.Subject.ID)}
		if c.isMade() {
			u.Method, u.Path = http.MethodDelete, linkOf("groups", after.GroupID, "members", c.Subject.ID)
		}
		return u
	case "user":
		return c.inverseStatus()
	case "role":
		before, after := sides[roleBody](c)
		if c.isMade() || c.isEnded() || reflect.DeepEqual(before, after) {
			return nil
		}
		return &undoCall{Action: "account:role:update", Method: http.MethodPut, Path: linkOf("roles", c.Subject.ID), Body: before}
	}
	return nil
}

func (c change) inverseAssignment() *undoCall {
	before, after := sides[assignmentBody](c)
	if c.isMade() {
		query := given("assigneeType", after.AssigneeType, "projectId", after.ProjectID, "resourceId", after.ResourceID)
		return &undoCall{Action: "account:role_assignment:delete", Method: http.MethodDelete, Path: linkOf("roles", after.RoleID, "assignments", c.Subject.ID), Query: query}
	}
	body := before
	if body.RoleID = ""; !c.isEnded() && before.RoleID != after.RoleID {
		if !c.isReplaceable() {
			return nil
		}
		body.RoleID = after.RoleID // the call replaces the role of this assignment
	}
	return &undoCall{Action: "account:role_assignment:update", Method: http.MethodPut, Path: linkOf("roles", before.RoleID, "assignments", c.Subject.ID), Body: body}
}

// isReplaceable reports whether a call at the place of the replaced role can take the new role away again. It would
// also end an assignment of the new role that existed before.
func (c change) isReplaceable() bool {
	before, after := sides[struct {
		assignmentBody
		Existing []assignmentBody `json:"role_assignments"`
	}](c)
	samePlace := after.ProjectID == before.ProjectID && after.ResourceID == before.ResourceID
	return len(before.Existing) == 0 && (samePlace || after.ProjectID == "")
}

// inverseStatus returns the call that undoes a change of only a user's status. No call makes somebody invited.
func (c change) inverseStatus() *undoCall {
	before, after := sides[changedSubject](c)
	if c.isMade() || c.isEnded() || before.Status == after.Status || before.Status == resources.StatusInvited || len(c.Fields()) != 1 {
		return nil
	}
	return &undoCall{Action: "account:user:update", Method: http.MethodPut, Path: "/api/v1/users/" + url.PathEscape(c.Subject.ID), Body: map[string]string{"status": before.Status}}
}

// undoView is the data of the page that confirms an undo.
type undoView struct {
	change
	Call *undoCall
	// Path is the call's path and query. Body is indented JSON, or "".
	Path, Body string
	// Later are the later changes of the same subject.
	Later   []change
	Problem *apiError
}

// Print returns the call on one line, since browsers change line ends in a form. The form contains it, and the console
// makes only the call that the page showed.
func (v undoView) Print() string {
	return strings.ReplaceAll(strings.TrimSpace(v.Call.Method+" "+v.Path+" "+v.Body), "\n", " ")
}

// Newest returns the id of the newest later change, or "". The form contains it, and the console undoes nothing after a
// change that the page did not show.
func (v undoView) Newest() string {
	if len(v.Later) == 0 {
		return ""
	}
	return v.Later[0].ID
}

// LaterLink returns the address of the later changes of the same subject.
func (v undoView) LaterLink() string {
	return "/changes?" + url.Values{"subject": {v.Subject.ID}, "since": {v.At.String()}}.Encode()
}

// undoOf reads a change by its id, which contains the time.
func (p *page) undoOf() (*undoView, error) {
	id := p.field("id")
	made, ok := resources.MadeAt(resources.PrefixChange, id)
	if !ok {
		return nil, errNoPage
	}
	query := url.Values{"since": {made.String()}, "until": {(made + 1).String()}, "page_size": {"100"}}
	for range mostPages {
		answer, err := p.changes(query)
		if err != nil {
			return nil, err
		}
		for _, c := range answer.Changes {
			if c.ID == id {
				return p.undoView(c)
			}
		}
		if answer.Next == "" {
			break
		}
		query.Set("page_token", answer.Next)
	}
	return nil, &apiError{Status: http.StatusNotFound, Message: "Your account has no change with this id, or no longer keeps it."}
}

func (p *page) undoView(c change) (*undoView, error) {
	alone := []change{c}
	if err := p.named(alone); err != nil {
		return nil, err
	}
	v := &undoView{change: alone[0], Call: c.inverse()}
	if v.Call == nil {
		return nil, &apiError{Status: http.StatusConflict, Message: "No single call undoes this change."}
	}
	if v.Path = v.Call.Path; c.Subject.Type != "user" {
		v.Path = p.account() + v.Path
	}
	if len(v.Call.Query) > 0 {
		v.Path += "?" + v.Call.Query.Encode()
	}
	if v.Call.Body != nil {
		raw, err := json.MarshalIndent(v.Call.Body, "", "  ")
		if err != nil {
			return nil, err
		}
		v.Body = string(raw)
	}
	later, err := p.changes(url.Values{"subject": {c.Subject.ID}, "since": {(c.At + 1).String()}, "page_size": {"5"}})
	v.Later = later.Changes
	return v, err
}

// confirmUndo shows the call that undoes a change.
func confirmUndo(p *page) error {
	v, err := p.undoOf()
	if err != nil {
		return err
	}
	return p.show(http.StatusOK, "undo", "Undo a change", "/changes", v)
}

// undo makes the confirmed call.
func undo(p *page) error {
	v, err := p.undoOf()
	if err != nil {
		return err
	}
	if p.r.PostFormValue("call") != v.Print() || p.r.PostFormValue("newest") != v.Newest() {
		return &apiError{Status: http.StatusConflict, Message: "The facts have changed since this undo was shown. Look at it again."}
	}
	err = p.api.call(p.r.Context(), v.Call.Method, v.Path, p.inAccount(), v.Call.Body, nil)
	if refused := refusalOf(err); refused != nil {
		v.Problem = refused
		return p.show(refused.Status, "undo", "Undo a change", "/changes", v)
	}
	if err != nil {
		return err
	}
	return p.done("/changes", "undone")
}
