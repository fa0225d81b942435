package gateway

import (
	"strconv"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/catalogue"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// Record is what is known of a request when it has been answered.
type Record struct {
	RequestID string
	// TraceID is the request's trace, "" without tracing.
	TraceID string
	Method  string
	// Path is as it was sent, without the query.
	Path string
	// Original is the call of somebody else about which a door was asked; it is empty elsewhere.
	Original catalogue.Call
	// Scheme is http or https, as the listener has it.
	Scheme string
	// Route is the catalogue's name of the route, Template the pattern of its path; both are empty where no route
	// was found.
	Route, Template string
	Principal       string
	// KeyID is the id of the API key in the credential; it is not secret.
	KeyID string
	// Subject is the user about whom a door was asked; DecisionID names the verdict.
	Subject, DecisionID string
	Action              string
	Account             string
	Status              int
	Allowed             bool
	Reason              string
	// Code names the reason of a decision; it is empty where the policy tree gives none.
	Code           string
	PolicyRevision string
	// At is when the request was answered; Duration is how long that took.
	At       time.Time
	Duration time.Duration
	// Unauthorized is why the credential was refused (authn.Reasons); it is empty where it was not.
	Unauthorized string
	// Limited is the rate that refused the request, "" for none.
	Limited string
	// Problems are those of a 400 in one line.
	Problems string
	// Err is the cause of a failure, for the log alone.
	Err error
}

// headerDecisionID names the verdict of an answer.
const headerDecisionID = "X-Decision-ID"

// judged records a verdict and names it in the answer.
func (x *exchange) judged(o *verdict.Outcome) {
	r := &x.record
	r.Allowed, r.Code, r.Reason, r.PolicyRevision, r.DecisionID = o.Allowed, o.Code, o.Reason, o.PolicyRevision, o.ID
	if o.Quotes {
		r.Reason = ""
	}
	if x.accountRevision = o.AccountRevision; o.ID != "" && x.raw != nil {
		x.raw.Response.Header.Set(headerDecisionID, o.ID)
	}
}

// tellRevisions names in the answer by which policy and facts the verdict was reached.
func (x *exchange) tellRevisions(o *verdict.Outcome) {
	h := &x.raw.Response.Header
	h.Set("X-Policy-Revision", o.PolicyRevision)
	var room [20]byte
	h.SetBytesV("X-Account-Revision", strconv.AppendInt(room[:0], o.AccountRevision, 10))
	if bundle := o.BundleRevision; bundle != "" {
		h.Set("X-Policy-Bundle-Revision", bundle)
	}
}

func (e *Edge) observe(r Record) {
	if e.cfg.Observe != nil {
		e.cfg.Observe(r)
	}
}

// maxProblems bounds in bytes what is recorded of a request's problems.
const maxProblems = 1 << 10

// inOneLine joins as many problems as there is room for.
func inOneLine(problems []resources.Problem) string {
	var all strings.Builder
	for i, p := range problems {
		if i > 0 {
			all.WriteString("; ")
		}
		if all.WriteString(p.String()); all.Len() > maxProblems {
			return strings.ToValidUTF8(all.String()[:maxProblems], "") + " …"
		}
	}
	return all.String()
}
