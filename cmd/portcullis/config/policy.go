package config

import (
	"net/http"
	"time"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

const (
	defaultBundlePoll  = 30 * time.Second
	shortestBundlePoll = 100 * time.Millisecond
)

// Policy says which policy tree decides, and how.
type Policy struct {
	// Dir is "" for the embedded tree.
	Dir string
	// Bundle is a file or a URL; "" if no bundle is followed.
	Bundle string
	// BundleKey is the file of the public key of its signature; "" takes unsigned bundles.
	BundleKey string
	// BundleAllowOlder takes signed bundles that are older than the one in force.
	BundleAllowOlder bool
	// AcceptBase is the revision of a base to start with although guards refuse it; "" for none.
	AcceptBase string
	// BundlePoll is the time between two looks at the bundle.
	BundlePoll time.Duration
	// ShadowDir has a candidate tree that judges beside the one in force; "" for none.
	ShadowDir string
	// ShadowSample is the share of questions that the candidate judges.
	ShadowSample float64
	// Timeout bounds one evaluation.
	Timeout time.Duration
	// DenyStatus is the status of a denied authorize call.
	DenyStatus int
}

func (p *Policy) flags(f *pflag.FlagSet) {
	f.StringVar(&p.Dir, "policy-dir", "", "the `folder` of a policy tree, in place of the embedded one; it is watched and reloaded")
	f.StringVar(&p.Bundle, "policy-bundle", "", "an OPA bundle, in place of the embedded tree: a `file or https URL`, which is asked again and again; the last good one is kept in the data folder")
	f.StringVar(&p.BundleKey, "policy-bundle-key", "", "the `file` of the public key (PEM: RSA, ECDSA or a certificate) of the bundle's signature; an unsigned bundle is refused then")
	f.BoolVar(&p.BundleAllowOlder, "policy-bundle-allow-older", false, "take a signed bundle that is older than the one in force, or that does not say whether it is")
	f.StringVar(&p.AcceptBase, "accept-base", "", "start with this `revision` of the base of the policy, although the guards of the last tree refuse it")
	DurationVar(f, &p.BundlePoll, "policy-bundle-poll", defaultBundlePoll, "how often the bundle is asked for; a fifth more or less each time")
	f.StringVar(&p.ShadowDir, "shadow-policy-dir", "", "the `folder` of a candidate tree that judges the same questions beside the one in force, for metrics, the log and /status; it is watched and reloaded")
	f.Float64Var(&p.ShadowSample, "shadow-sample", 1, "with --shadow-policy-dir: the `share` of questions that the candidate judges, from 0 to 1")
	DurationVar(f, &p.Timeout, "policy-timeout", engine.DefaultDeadline, "how long one evaluation of the policy may take, by the clock; at most --handle-timeout")
	f.IntVar(&p.DenyStatus, "deny-status", http.StatusOK, "the `status` of a denied authorize call: 200, or 403 for callers that look at the status only")
}

// Shipped says that the operator gives no tree.
func (p Policy) Shipped() bool { return p.Dir == "" && p.Bundle == "" }

// Validate returns what is wrong with the policy's settings.
func (p Policy) Validate() (problems []resources.Problem) {
	if p.Bundle != "" && p.Dir != "" {
		problems = append(problems, problem("--policy-bundle", "is in the place of --policy-dir; leave one of them out"))
	}
	if bundles.IsURL(p.Bundle) {
		if err := bundles.CheckURL(p.Bundle); err != nil {
			problems = append(problems, problem("--policy-bundle", "%v", err))
		}
	}
	if p.BundleKey != "" && p.Bundle == "" {
		problems = append(problems, problem("--policy-bundle-key", "is for the signature of --policy-bundle; leave it out"))
	}
	if p.BundleAllowOlder && p.BundleKey == "" {
		problems = append(problems, problem("--policy-bundle-allow-older", "is for signed bundles; leave it out, or give --policy-bundle-key"))
	}
	if p.BundlePoll < shortestBundlePoll {
		problems = append(problems, tooSmall("--policy-bundle-poll", "at least "+shortestBundlePoll.String()))
	}
	if !(p.ShadowSample >= 0 && p.ShadowSample <= 1) { // which NaN is not
		problems = append(problems, problem("--shadow-sample", "must be from 0 to 1, not %g", p.ShadowSample))
	}
	if p.Timeout <= 0 {
		problems = append(problems, tooSmall("--policy-timeout", "more than 0"))
	}
	if p.DenyStatus != http.StatusOK && p.DenyStatus != http.StatusForbidden {
		problems = append(problems, problem("--deny-status", "must be 200 or 403, not %d", p.DenyStatus))
	}
	return problems
}
