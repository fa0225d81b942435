package console

import (
	"net/http"
	"net/url"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// approvalPages returns the handlers of approvals, by pattern.
func approvalPages() map[string]func(*page) error {
	return map[string]func(*page) error{
		"GET /approvals":       listApprovals,
		"GET /approvals/{id}":  func(p *page) error { return p.approval(http.StatusOK, nil) },
		"POST /approvals/{id}": decideApproval,
	}
}

// approval is an approval of the API.
type approval struct {
	resources.Approval
	now time.Time
}

// Open reports whether the user can decide the request.
func (a approval) Open() bool { return a.Status == resources.ApprovalPending }

// Left returns the minutes until the request ends, rounded up.
func (a approval) Left() int {
	return int((time.UnixMilli(int64(a.ExpiresAt)).Sub(a.now) + time.Minute - 1) / time.Minute)
}

// ByAgent reports whether a client calls for the user.
func (a approval) ByAgent() bool { return a.Client != resources.AgentClient{} }

// Link returns the address of the approval's page.
func (a approval) Link() string { return linkOf("approvals", a.ID) }

// approvalView is the data of the page of one approval.
type approvalView struct {
	approval
	// Arguments are those of the call, Others its other parameters.
	Arguments, Others []argument
	// Raw is the JSON of the arguments as the server will get them.
	Raw     []textPart
	Problem *apiError
	// Gone is true if the API does not have the approval for this user.
	Gone bool
}

// approvalsPath is the API path of the user's own approvals.
func (p *page) approvalsPath(segments ...string) string {
	return p.account(append([]string{"users", p.session.UserID, "approvals"}, segments...)...)
}

// approval shows an approval. problem is the API's refusal of a decision, or nil.
func (p *page) approval(status int, problem *apiError) error {
	var answer struct {
		Approval resources.Approval `json:"approval"`
	}
	v := approvalView{Problem: problem}
	err := p.api.get(p.r.Context(), p.approvalsPath(p.r.PathValue("id")), nil, &answer)
	if _, gone := isRefusal(err, http.StatusNotFound); gone {
		v.Gone = true
		return p.show(http.StatusNotFound, "approval", "Approval", approvalsHere, v)
	}
	if err != nil {
		return err
	}
	v.approval = approval{answer.Approval, p.c.cfg.Now()}
	v.Arguments, v.Others, v.Raw = argumentsOf(v.approval.Arguments), argumentsOf(v.Further), partsOf(v.approval.Arguments)
	return p.show(status, "approval", "Approval", approvalsHere, v)
}

// approvalsHere is the address of the list of approvals.
const approvalsHere = "/approvals"

// decideApproval sends the user's decision.
func decideApproval(p *page) error {
	status, outcome := resources.ApprovalDenied, "declined"
	switch p.field("do") {
	case "approve":
		status, outcome = resources.ApprovalApproved, "approved"
	case "deny":
	default:
		return p.approval(http.StatusBadRequest, &apiError{Status: http.StatusBadRequest, Message: "Choose Approve or Deny."})
	}
	id := p.r.PathValue("id")
	err := p.send(call{method: http.MethodPatch, path: p.approvalsPath(id), body: map[string]string{"status": status}})
	if refused := refusalOf(err); refused != nil {
		return p.approval(refused.Status, refused)
	}
	if err != nil {
		return err
	}
	return p.done(linkOf("approvals", id), outcome)
}

// approvalsView is the data of the list of approvals.
type approvalsView struct {
	Open, Decided []approval
	Next          string
}

func listApprovals(p *page) error {
	all, next, err := p.approvals(given("page_size", listedNames, "page_token", p.field("page_token")))
	if err != nil {
		return err
	}
	v := approvalsView{}
	if next != "" {
		v.Next = approvalsHere + "?" + given("page_token", next).Encode()
	}
	for _, one := range all {
		if one.Open() {
			v.Open = append(v.Open, one)
		} else {
			v.Decided = append(v.Decided, one)
		}
	}
	return p.show(http.StatusOK, "approvals", "Approvals", approvalsHere, v)
}

// approvals reads the user's approvals.
func (p *page) approvals(query url.Values) (all []approval, next string, err error) {
	var answer struct {
		Approvals []resources.Approval `json:"approvals"`
		Next      string               `json:"next_page_token"`
	}
	err = p.api.get(p.r.Context(), p.approvalsPath(), query, &answer)
	for _, one := range answer.Approvals {
		all = append(all, approval{one, p.c.cfg.Now()})
	}
	return all, answer.Next, err
}

// waiting adds the calls that wait for the user.
func (p *page) waiting(v *overviewView) error {
	all, _, err := p.approvals(given("status", resources.ApprovalPending, "page_size", "20"))
	if _, refused := isRefusal(err, http.StatusForbidden, http.StatusNotFound); refused {
		return nil
	}
	v.Waiting = all
	return err
}
