package clusters_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/clusters"
	"github.com/portcullis-authz/portcullis/store"
)

// TestDeletionEndsTheClaim: the provision claim is over at once, a delete claim is there with attempt
// 1, a failed one stays DELETING, and the last word is DELETED.
func TestDeletionEndsTheClaim(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		for _, end := range []resources.ClusterState{resources.ClusterProvisioning, resources.ClusterRunning, resources.ClusterError} {
			id := w.made(k, home, "web")
			w.claimed1(k)
			w.Clock.Add(60_000)
			provision := w.claimed1(k)
			if provision.attempt != 2 {
				w.T.Fatalf("%+v", provision)
			}
			body := `{"status":"` + k.state(end) + `"}`
			if end == resources.ClusterError {
				body = `{"status":"` + k.state(end) + `","error":"no machines"}`
			}
			w.Expect(w.report(provision.id, worker, body), 200, k.state(end))
			w.Expect(w.call(k.remove, home, id, ""), 200, k.state(resources.ClusterDeleting))
			w.Expect(w.report(provision.id, worker, `{"extend_seconds":30}`), 409, "over")
			deletion := w.claimed1(k)
			if deletion.intent != "delete" || deletion.attempt != 1 || deletion.cluster != id {
				w.T.Fatalf("%+v", deletion)
			}
			w.Expect(w.report(deletion.id, worker, `{"error":"a machine does not stop"}`), 200, k.state(resources.ClusterDeleting))
			w.Expect(w.call(k.get, home, id, ""), 200, k.state(resources.ClusterDeleting), `"error":"a machine does not stop"`)
			first := w.call(k.remove, home, id, "")
			w.Expect(first, 200, k.state(resources.ClusterDeleting))
			done := `{"status":"` + k.state(resources.ClusterDeleted) + `"}`
			answer := w.report(deletion.id, worker, done)
			w.Expect(answer, 200, k.state(resources.ClusterDeleted))
			if again := w.report(deletion.id, worker, done); again.Status != 200 || again.Text != answer.Text {
				w.T.Errorf("%d %s, first %s", again.Status, again.Text, answer.Text)
			}
			w.Expect(w.call(k.get, home, id, ""), 200, k.state(resources.ClusterDeleted))
		}
	})
}

// TestARepeatAfterADeletionHasNoLease guarantees that a provisioner with equal reports sees the end of its claim: the
// lease in the answer is over.
func TestARepeatAfterADeletionHasNoLease(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		id, longer := w.made(k, home, "web"), `{"extend_seconds":600}`
		provision := w.claimed1(k)
		w.Expect(w.report(provision.id, worker, longer), 200, k.state(resources.ClusterProvisioning))
		removed := w.call(k.remove, home, id, "")
		w.Expect(removed, 200, k.state(resources.ClusterDeleting))
		got := w.report(provision.id, worker, longer)
		w.Expect(got, 200, k.state(resources.ClusterDeleting))
		if until, now := got.Str("lease_until"), resources.Time(w.Clock.Load()).String(); until > now {
			w.T.Errorf("the claim is over, and its lease until %s, now %s", until, now)
		}
	})
}

// TestClaimIsItsServices alone: another provisioner's report is 409, that on an unknown claim 404.
func TestClaimIsItsServices(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		id := w.made(k, home, "web")
		c, before := w.claimed1(k), w.call(k.get, home, id, "")
		running := `{"status":"` + k.state(resources.ClusterRunning) + `"}`
		w.Expect(w.report(c.id, otherWorker, running), 409, `"code":"CONFLICT"`)
		w.Expect(w.report("claim-absent-v1", worker, running), 404, `"code":"NOT_FOUND"`)
		if after := w.call(k.get, home, id, ""); after.Text != before.Text {
			w.T.Errorf("%s, before %s", after.Text, before.Text)
		}
		w.Expect(w.report(c.id, worker, running), 200)
		w.Expect(w.report(c.id, otherWorker, running), 409)
	})
}

// TestReportIsRefused with its problem, before anything changes.
func TestReportIsRefused(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		id := w.made(k, home, "web")
		c, before := w.claimed1(k), w.call(k.get, home, id, "")
		other := sorts()[0]
		if k.name == other.name {
			other = sorts()[1]
		}
		owned := map[string][]string{
			"status":           {`"status":"` + other.state(resources.ClusterRunning) + `"`, `"status":"up"`, `"status":1`, `"status":""`},
			"error":            {`"status":"` + k.state(resources.ClusterError) + `"`, `"error":""`, `"error":"` + strings.Repeat("x", 2001) + `"`, `"status":"` + k.state(resources.ClusterRunning) + `","error":"x"`},
			"extend_seconds":   {`"extend_seconds":29`, `"extend_seconds":601`, `"extend_seconds":"60"`},
			"cluster_endpoint": {`"cluster_endpoint":"http://a"`, `"cluster_endpoint":"https://"`, `"cluster_endpoint":"https://u:p@a"`, `"cluster_endpoint":"https://a?x=1"`, `"cluster_endpoint":""`, `"cluster_endpoint":7`},
			"force":            {`"force":true`},
		}
		if k.name == "gpu" {
			owned["cluster_endpoint"] = append(owned["cluster_endpoint"], `"cluster_endpoint":"https://a"`)
			owned["installed_apps"] = []string{`"installed_apps":[]`}
			owned["resources[0].created_at"] = []string{`"resources":[{"external_id":"e","name":"n","resource_type":"vm","status":"up"}]`}
			owned["resources[0].primary_ip"] = []string{`"resources":[{"external_id":"e","name":"n","resource_type":"vm","status":"up","created_at":"2030-01-01T00:00:00Z","primary_ip":"1.2.3"}]`}
		} else {
			owned["resources"] = []string{`"resources":[]`, `"resources":{}`}
			owned["installed_apps[0].status"] = []string{`"installed_apps":[{"base":{"app_id":"a","marketplace_app":{"app_name":"n"}},"status":"UP"}]`}
			owned["installed_apps[0].base"] = []string{`"installed_apps":[{"status":"INSTALLED_APP_STATUS_UNSPECIFIED"}]`}
		}
		for field, bodies := range owned {
			for _, body := range bodies {
				got := w.report(c.id, worker, "{"+body+"}")
				if d := details(got); got.Status != 400 || len(d) != 1 || !strings.HasPrefix(d[0], field+": ") {
					w.T.Errorf("%.80s: %d %s", body, got.Status, got.Text)
				}
			}
		}
		if after := w.call(k.get, home, id, ""); after.Text != before.Text {
			w.T.Errorf("%s, before %s", after.Text, before.Text)
		}
	})
}

// TestEndpointIsCountedInCharacters guarantees what the document says: 2,048 characters, of however many bytes.
func TestEndpointIsCountedInCharacters(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		if k.name == "gpu" { // it has none
			return
		}
		w.made(k, home, "web")
		c, longest := w.claimed1(k), "https://a/"+strings.Repeat("é", 2038)
		w.Expect(w.report(c.id, worker, `{"cluster_endpoint":"`+longest+`"}`), 200, longest)
		w.Expect(w.report(c.id, worker, `{"cluster_endpoint":"`+longest+`é"}`), 400, "cluster_endpoint: ")
	})
}

// TestReportFillsTheCluster: what was reported is shown, and a repeat changes nothing.
func TestReportFillsTheCluster(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		id := w.made(k, home, "web")
		c := w.claimed1(k)
		body, shown := `{"cluster_endpoint":"https://10.0.0.1:6443","installed_apps":[{"base":{"app_id":"a","marketplace_app":{"app_name":"n"}},"status":"INSTALLED_APP_STATUS_UNSPECIFIED"}]}`,
			[]string{`"cluster_endpoint":"https://10.0.0.1:6443"`, `"app_id":"a"`, `"cluster_id":"` + id + `","marketplace_app"`}
		if k.name == "gpu" {
			body, shown = `{"resources":[{"external_id":"e","name":"n","resource_type":"vm","status":"up","created_at":"2030-01-01T00:00:00Z","primary_ip":"10.0.0.9"}]}`,
				[]string{`"external_id":"e"`, `"primary_ip":"10.0.0.9"`}
		}
		w.Clock.Add(1000)
		w.Expect(w.report(c.id, worker, body), 200, shown...)
		filled := w.call(k.get, home, id, "")
		w.Expect(filled, 200, append(shown, k.state(resources.ClusterProvisioning))...)
		w.Clock.Add(1000)
		w.Expect(w.report(c.id, worker, body), 200, shown...)
		if again := w.call(k.get, home, id, ""); again.Text != filled.Text {
			w.T.Errorf("%s, first %s", again.Text, filled.Text)
		}
		running := `{"status":"` + k.state(resources.ClusterRunning) + `"}`
		var answers [2]areatest.Answer
		for i := range answers {
			answers[i] = w.report(c.id, worker, running)
			w.Expect(answers[i], 200, k.state(resources.ClusterRunning))
			w.Clock.Add(1000)
		}
		if answers[0].Text != answers[1].Text {
			w.T.Errorf("%s, first %s", answers[1].Text, answers[0].Text)
		}
		w.Expect(w.report(c.id, worker, body), 409, "over")
		w.Expect(w.call(k.get, home, id, ""), 200, append(shown, k.state(resources.ClusterRunning))...)
	})
}

// again is a store whose changes meet a conflict: each runs for a second time.
type again struct{ store.Store }

func (s again) Transact(ctx context.Context, fn func(store.Tx) error) error {
	conflict := errors.New("another change was first")
	err := s.Store.Transact(ctx, func(tx store.Tx) error { return errors.Join(fn(tx), conflict) })
	if !errors.Is(err, conflict) {
		return err
	}
	return s.Store.Transact(ctx, fn)
}

// TestRepeatIsKnownAfterAConflict: a report names its repeat, however often its transaction has run.
func TestRepeatIsKnownAfterAConflict(t *testing.T) {
	w := newWorld(t, func(cfg *clusters.Config) { cfg.Store = again{cfg.Store} })
	k := sorts()[0]
	w.made(k, home, "web")
	c := w.claimed1(k)
	body := `{"status":"` + k.state(resources.ClusterRunning) + `","installed_apps":[{"base":{"app_id":"a","marketplace_app":{"app_name":"n"}},"status":"INSTALLED_APP_STATUS_UNSPECIFIED"}]}`
	first := w.report(c.id, worker, body)
	w.Expect(first, 200)
	if repeat := w.report(c.id, worker, body); repeat.Status != 200 || repeat.Text != first.Text {
		t.Errorf("%d %s, first %s", repeat.Status, repeat.Text, first.Text)
	}
}
