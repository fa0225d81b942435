package config

import (
	"net/http"
	"time"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// Policy says which policy tree decides, and how.
type Policy struct {
	// Dir is "" for the embedded tree.
	Dir string
	// Timeout bounds one evaluation.
	Timeout time.Duration
	// DenyStatus is the status of a denied authorize call.
	DenyStatus int
}

func (p *Policy) flags(f *pflag.FlagSet) {
	f.StringVar(&p.Dir, "policy-dir", "", "the `folder` of a policy tree, in place of the embedded one; it is watched and reloaded")
	DurationVar(f, &p.Timeout, "policy-timeout", engine.DefaultDeadline, "how long one evaluation of the policy may take, by the clock; at most --handle-timeout")
	f.IntVar(&p.DenyStatus, "deny-status", http.StatusOK, "the `status` of a denied authorize call: 200, or 403 for callers that look at the status only")
}

// Validate returns what is wrong with the policy's settings.
func (p Policy) Validate() (found []resources.Problem) {
	if p.Timeout <= 0 {
		found = append(found, tooSmall("--policy-timeout", "more than 0"))
	}
	if p.DenyStatus != http.StatusOK && p.DenyStatus != http.StatusForbidden {
		found = append(found, problem("--deny-status", "must be 200 or 403, not %d", p.DenyStatus))
	}
	return found
}
