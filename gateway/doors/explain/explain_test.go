package explain_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/explain"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

type facts struct {
	verdict.FactSource
	revision int64
}

func (f facts) Facts(context.Context, string, string, string) (resources.Facts, error) {
	return resources.Facts{Revision: f.revision, Subject: &resources.Subject{}}, nil
}

type policy struct {
	verdict.Tree
	access bool
}

func (policy) Decide(context.Context, resources.Question) (resources.Decision, error) {
	return resources.Decision{}, errors.New("an explanation decides by itself")
}

func (p policy) Access(context.Context, resources.Question) (resources.Decision, error) {
	return resources.Decision{Allowed: p.access, Reason: "by access"}, nil
}

type explainer func(q resources.Question) (resources.Explanation, error)

// judged is how many questions each explanation judges.
const judged = 137

func (e explainer) Explain(_ context.Context, q resources.Question) (resources.Explanation, int, error) {
	x, err := e(q)
	return x, judged, err
}

type headers map[string]string

func (h headers) Identity(name string) (value, problem string) { return h[name], "" }

func (h headers) Values(string) ([]string, bool) { return nil, false }

type rates struct {
	charged, owed *int
	err           error
}

func (r rates) Owe(further int) { *r.owed += further }

func (r rates) Charge(further int) error {
	*r.charged += further
	return r.err
}

// TestAnswer guarantees the price: ten questions before anything is judged, and one for each ten judged. Only a caller
// who may ask gets the explanation, and nobody gets one by a failure.
func TestAnswer(t *testing.T) {
	broken, tooMany := errors.New("broken"), &resources.Error{Kind: resources.KindRateLimited}
	good := func(q resources.Question) (resources.Explanation, error) {
		if q.SubjectID != "user-bob-v1" || q.AccountID != "acct-a-v1" || q.Action.ID != "project:x:read" || q.Target.Rest != "x" || q.Now != 5 {
			t.Errorf("asked about %+v", q)
		}
		return resources.Explanation{Reason: "not for " + "pcl_sk_" + "live_0123456789", AccountRevision: 7}, nil
	}
	for name, c := range map[string]struct {
		explainer explainer
		access    bool
		path      string
		rate      error
		revision  int64
		kind      resources.Kind
		charged   int
		owed      int
	}{
		"explained":     {good, true, "x", nil, 7, -1, 9, 3},
		"may not ask":   {good, false, "x", nil, 7, resources.KindForbidden, 9, 0},
		"no question":   {good, true, "x//", nil, 7, resources.KindBadRequest, 0, 0},
		"over its rate": {good, true, "x", tooMany, 7, resources.KindRateLimited, 9, 0},
		"old facts":     {good, true, "x", nil, 8, resources.KindUnavailable, 9, 3},
		"a failure": {func(resources.Question) (resources.Explanation, error) {
			return resources.Explanation{Allowed: true}, broken
		}, true, "x", nil, 7, resources.KindUnavailable, 9, 3},
	} {
		t.Run(name, func(t *testing.T) {
			now := func() time.Time { return time.UnixMilli(5) }
			d := explain.Door{
				Judge: &verdict.Judge{Pin: func() verdict.Tree { return policy{access: c.access} }, Facts: facts{revision: c.revision}, Now: now}, Explainer: c.explainer, Now: now,
			}
			charged, owed := 0, 0
			a, err := d.Answer(t.Context(), doors.Call{
				Caller: &resources.Principal{Kind: resources.PrincipalUser, ID: "user-bob-v1", AccountID: "acct-a-v1"}, Row: &route.Row{}, Path: c.path,
				Headers: headers{"X-User-ID": "user-bob-v1", "X-Account-ID": "acct-a-v1", "X-Action": "project:x:read"},
				Rates:   rates{&charged, &owed, c.rate},
			})
			if charged != c.charged || owed != c.owed {
				t.Errorf("charged for %d further questions, and then for %d", charged, owed)
			}
			if c.kind >= 0 {
				if !resources.IsKind(err, c.kind) || a.Body != nil || a.Status != 0 {
					t.Errorf("%v %+v", err, a)
				}
				return
			}
			if err != nil || a.Status != 200 || !strings.Contains(string(a.Body), `"reason":"not for pcl_sk_…"`) || a.Outcome.ID != "" {
				t.Errorf("%v %d %s", err, a.Status, a.Body)
			}
		})
	}
}
