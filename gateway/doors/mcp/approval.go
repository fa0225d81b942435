package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	// Pending reports whether a user's request in an account awaits their decision. It does not for an unknown one.
	Pending(ctx context.Context, account, user, id string) (bool, error)
}

const (
	// approvalKey begins the key of the client's input about an approval. The approval's id follows.
	approvalKey = "portcullis/approval/"
	// approvalWait limits the wait for a user's decision. Clients and proxies often wait for an answer for a minute.
	approvalWait = 50 * time.Second
)

// retried handles the retry m of a call whose client has led its user to the page about an approval. stripped is the call
// without the client's input. The call waits for the user's decision, and then is judged like any other one.
func (v *visit) retried(ctx context.Context, m *message.Message, stripped []byte, input message.Input) (doors.Answer, error) {
	c := v.call
	c.Body = stripped
	if input.Accepted && v.Approvals != nil {
		waits, err := c.Streams.Open(false)
		if err != nil {
			return doors.Answer{}, err
		}
		if err := v.await(waits, input.Rest); err != nil {
			return v.undecided(&posted{Message: m}, err), nil
		}
		switch err := v.authenticate(waits); {
		case errors.Is(err, errExpired):
			return doors.Answer{}, errBadToken()
		case err != nil:
			return v.undecided(&posted{Message: m}, err), nil
		}
		ctx = waits
	}
	anew, err := v.visit(c) // the policy may have changed
	if err != nil {
		return doors.Answer{}, err
	}
	anew.led = true
	return anew.post(ctx)
}

// await waits until the user has decided a request, for at most approvalWait. It does not wait beside another call: one call
// waits for each request, and a user has MaxOpenApprovals of them at most.
func (v *visit) await(ctx context.Context, id string) error {
	pending, err := v.Approvals.Pending(ctx, v.account(), v.call.Caller.ID, id)
	if err != nil || !pending {
		return err
	}
	if _, awaited := v.awaited.LoadOrStore(id, true); awaited {
		return nil
	}
	defer v.awaited.Delete(id)
	release, err := v.holdMessage()
	if err != nil {
		return err
	}
	defer release()
	over := time.NewTimer(approvalWait)
	defer over.Stop()
	again := time.NewTicker(rejudgeEvery)
	defer again.Stop()
	for pending && err == nil {
		select {
		case <-ctx.Done():
			return resources.Unavailable("The call has ended before the decision; try again.", context.Cause(ctx))
		case <-over.C:
			return nil
		case <-again.C:
			pending, err = v.Approvals.Pending(ctx, v.account(), v.call.Caller.ID, id)
		}
	}
	return err
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
	render := v.denied
	if v.leads(p) {
		render = v.lead
	}
	a, err := v.unsent(ctx, p, verdict.CodeApproval, doors.Answer{Status: 200, Body: render(p, v.outcome, *named)}, nil)
	return a, false, err
}

// leads reports whether the client of a denied call is to lead its user to the page about the approval. A client that answers
// a question of the server is not: its retry would lose the answer.
func (v *visit) leads(p *posted) bool {
	return p.era == message.Modern && !p.Retry && !v.led && p.Client.ElicitsURL() &&
		v.needed.request.Status == resources.ApprovalPending && v.page() != ""
}

// lead renders the result that has the client lead its user to the page.
func (v *visit) lead(p *posted, o *verdict.Outcome, r row) []byte {
	text := fmt.Sprintf("Approve or decline the call of the tool %q of the server %q.", r.name, v.server.Name)
	return message.LeadToURL(p.ID, approvalKey+v.needed.request.ID, v.page(), text, v.denial(o, resources.MaskCredentials(v.reason(o, r)))...)
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
		return fmt.Sprintf("%s, and you have %d open requests, or %d of this client: decide some of them, then call again",
			call, resources.MaxOpenApprovals, resources.MaxOpenOfClient)
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
