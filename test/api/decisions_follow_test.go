package api_test

import (
	"slices"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// mostFollowers is how many clients of a process may wait for decisions.
const mostFollowers = 200

// followed is how a follower's call ended.
type followed struct {
	harness.Reply
	err error
}

// follow calls the list with a wait, in the background.
func follow(s *harness.Team, token, query string, ended chan<- followed) {
	go func() {
		r, err := harness.TryCall("GET", s.Path("/decisions?wait=30s&"+query), token, "")
		ended <- followed{r, err}
	}()
}

// TestASuspendedFollowerGetsNoRows guarantees it for one who waits while suspended: 401. If only the roles were read after
// the suspension, it is 403.
func TestASuspendedFollowerGetsNoRows(t *testing.T) {
	t.Parallel()
	s := harness.NewTeam(t)
	s.Grant(t, "account_reader", s.Bob, "")
	ended := make(chan followed, 1)
	follow(s, s.UserToken(t, s.Bob), after(begun(t, s))+"&user="+s.Dan, ended)
	if r := harness.Call(t, "PUT", s.URL+"/api/v1/users/"+s.Bob, s.AdminToken, `{"status":"SUSPENDED"}`, "X-Account-ID", s.Account); r.Status != 200 {
		t.Fatalf("user.update: %d %s", r.Status, r.Raw)
	}
	decidedOn(t, s, s.Dan, "account:role:read", "")
	if r := <-ended; r.err != nil || r.Status != 401 && r.Status != 403 || r.Body["decisions"] != nil {
		t.Errorf("%d %s %v", r.Status, r.Raw, r.err)
	}
}

// TestFollowersAreBoundedAndEndWithTheGateway guarantees 503 for one too many, and an answer at once for all who wait when
// the gateway is stopped.
func TestFollowersAreBoundedAndEndWithTheGateway(t *testing.T) {
	t.Parallel()
	s := harness.StartTeam(t)
	scene := *s.Scene // of replicas the first one: each has a bound of its own
	scene.Gateway = s.Each()[0]
	s.Scene = &scene
	began := begun(t, s)
	ended := make(chan followed, mostFollowers+1)
	for range mostFollowers + 1 {
		follow(s, s.AdminToken, after(began), ended)
	}
	refused := func(r followed) bool {
		return r.err == nil && r.Status == 503 && r.Header.Get("Retry-After") != "" && r.Took < 20*time.Second
	}
	if r := <-ended; !refused(r) {
		t.Fatalf("%d %s %v", r.Status, r.Raw, r.err)
	}
	if follow(s, s.AdminToken, after(began), ended); !refused(<-ended) {
		t.Error("another one is not refused")
	}
	if _, r := decisionsOf(t, s, after(began)); r.Status != 200 {
		t.Errorf("without a wait: %d %s", r.Status, r.Raw)
	}
	if n := len(ended); n > 0 {
		t.Errorf("%d followers have ended: %+v", n, <-ended)
	}
	stopped := time.Now()
	s.Terminate(t)
	for range mostFollowers {
		if r := <-ended; r.err != nil || r.Status != 200 || len(harness.Texts(r.Body["decisions"], "decision_id")) > 0 {
			t.Fatalf("%d %s %v", r.Status, r.Raw, r.err)
		}
	}
	if took := time.Since(stopped); took > 15*time.Second {
		t.Errorf("the last follower has its answer after %s", took)
	}
	if code := s.Ended(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestDecisionsOfAllGateways guarantees them in the answer of each one, and names one that does not answer.
func TestDecisionsOfAllGateways(t *testing.T) {
	t.Parallel()
	local, other := servers.Address(t), servers.Address(t)
	fleet := []string{"--gateways", local, "--gateways", other}
	r := harness.StartReplicas(t, 1, append(fleet, "--health-listen", local)...)
	second, flags := t.TempDir(), append(slices.Clone(r.Flags), "--health-listen", other)
	peer := *r.Team
	peerScene := *r.Scene
	peer.Scene, peerScene.Gateway = &peerScene, harness.Launch(t, second, flags...)
	began := begun(t, r.Team)
	ended := make(chan followed, 1)
	follow(r.Team, r.AdminToken, after(began)+"&path=authz/decision", ended)
	far := decidedOn(t, &peer, r.Admin, "account:role:read", "")
	if got := <-ended; got.err != nil || !slices.Equal(harness.Texts(got.Body["decisions"], "decision_id"), []string{far}) {
		t.Errorf("a follower: %d %s %v", got.Status, got.Raw, got.err)
	}
	for name, asked := range map[string]*harness.Team{"the other": r.Team, "the one": &peer} {
		harness.Soon(t, name+" answers with both", func() bool {
			ids, got := decisionsOf(t, asked, "path=authz/decision")
			if got.Body["complete"] != true || len(harness.At(got.Body, "missing").([]any)) > 0 {
				t.Errorf("%s: %s", name, got.Raw)
			}
			return slices.Equal(ids, []string{far})
		})
	}
	_, began = decisionsOf(t, r.Team, "")
	unseen := decidedOn(t, &peer, r.Admin, "account:user:read", "")
	harness.Soon(t, "it is in its own log", func() bool {
		ids, _ := decisionsOf(t, &peer, "path=authz/decision")
		return slices.Contains(ids, unseen)
	})
	peer.Kill(t)
	near := decidedOn(t, r.Team, r.Admin, "account:group:read", "")
	_, cut := awaited(t, r.Team, began, near)
	_, listed := decisionsOf(t, r.Team, "path=authz/decision")
	for name, got := range map[string]harness.Reply{"list": listed, "follower": cut} {
		missing, _ := got.Body["missing"].([]any)
		if got.Body["complete"] != false || len(missing) != 1 || missing[0] != other {
			t.Errorf("%s: complete %v, missing %v", name, got.Body["complete"], missing)
		}
		if ids := harness.Texts(got.Body["decisions"], "decision_id"); !slices.Contains(ids, near) || slices.Contains(ids, unseen) {
			t.Errorf("%s: %v", name, ids)
		}
	}
	peer.Gateway = harness.Launch(t, second, flags...)
	if ids, got := awaited(t, r.Team, cut, unseen); got.Body["complete"] != true || slices.Contains(ids, near) {
		t.Errorf("once it is back: %v, %s", ids, got.Raw)
	}
}
