package mcp

import (
	"context"
	"fmt"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// Approvals keeps what users decide about single calls.
type Approvals interface {
	// Use uses up the approval of a call. The result is ApprovalUsed for a call that may go on. Otherwise it is the user's
	// request, ApprovalPending or ApprovalDenied. It has no id if the user has too many open requests.
	Use(ctx context.Context, call resources.Approval) (resources.Approval, error)
}

// approved uses up the user's approval of a call that needs one. It comes last: everything else has allowed the call, and
// only a failure keeps it from the server afterwards. It returns false with the answer to a call that may not go on.
func (v *visit) approved(ctx context.Context, p *posted, named *row) (doors.Answer, bool, error) {
	if named == nil || named.approval == "" {
		return doors.Answer{}, true, nil
	}
	wanted, refusal, err := v.wanted(named)
	var got resources.Approval
	if err == nil && refusal == "" {
		got, err = v.Approvals.Use(ctx, wanted)
	}
	if err != nil {
		a, err := v.unsent(ctx, p, codeUndecided, v.undecided(p, err), nil)
		return a, false, err
	}
	if refusal == "" && got.ID != "" && got.Status == resources.ApprovalUsed {
		v.use.approvedBy(got.ID)
		return doors.Answer{}, true, nil
	}
	v.needed = &needed{got, refusal}
	v.outcome.Allowed, v.outcome.Code = false, verdict.CodeApproval
	a, err := v.unsent(ctx, p, verdict.CodeApproval, doors.Answer{Status: 200, Body: v.denied(p, v.outcome, *named)}, nil)
	return a, false, err
}

// needed is the approval that a denied call needs. refusal says why nobody can approve the call, "" if the user can.
type needed struct {
	request resources.Approval
	refusal string
}

// wanted returns the approval that a call needs, or why nobody can give it.
func (v *visit) wanted(r *row) (wanted resources.Approval, refusal string, err error) {
	client, agent := v.call.Caller.Client.Agent()
	switch {
	case v.Approvals == nil || v.call.Caller.Kind != resources.PrincipalUser:
		return wanted, "only a user approves a call", nil
	case agent && !client.Valid():
		return wanted, "the token does not name its client", nil
	}
	subject, err := message.ReadSubject(v.call.Body)
	if err != nil {
		return wanted, "", err
	}
	if len(subject.Arguments)+len(subject.Further) > resources.MaxApprovalArguments {
		return wanted, "arguments of more than 16 KiB can't be approved", nil
	}
	return resources.Approval{
		AccountID: v.account(), UserID: v.call.Caller.ID, Client: client,
		Server: v.server.Name, ServerTitle: v.server.Title, Place: v.place.path, Tool: r.name, Effect: r.effect, Definition: r.definition,
		Arguments: string(subject.Arguments), Further: string(subject.Further), ArgumentsHash: subject.Hash,
	}, "", nil
}

// reason explains to the user what the approval lacks.
func (n *needed) reason(page string, r row, server string) string {
	call := fmt.Sprintf("each call of the tool %q of the server %q needs an approval", r.name, server)
	switch {
	case n == nil:
		return call
	case n.refusal != "":
		return call + ": " + n.refusal
	case n.request.ID == "":
		return fmt.Sprintf("%s, and you have %d open requests: decide some of them, then call again", call, resources.MaxOpenApprovals)
	case n.request.Status == resources.ApprovalDenied:
		return fmt.Sprintf("you have declined this call of the tool %q of the server %q", r.name, server)
	case page == "":
		return call + ": decide the request " + n.request.ID + ", then call again"
	}
	return call + ": decide it at " + page + ", then call again"
}

// page returns the console's page about the request, "" without a console.
func (v *visit) page() string {
	if v.needed == nil || v.needed.request.ID == "" || v.Console == "" {
		return ""
	}
	return v.Console + "/approvals/" + v.needed.request.ID
}

// accessRequest returns the member about the open request of a denied call, or none.
func (v *visit) accessRequest() []message.Member {
	if v.needed == nil || v.needed.request.Status != resources.ApprovalPending {
		return nil
	}
	members := []message.Member{message.Text("id", v.needed.request.ID)}
	if page := v.page(); page != "" {
		members = append(members, message.Text("url", page))
	}
	members = append(members, message.Text("expires_at", v.needed.request.ExpiresAt.String()))
	return []message.Member{message.Object("access_request", members...)}
}
