package clusters_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
)

// reached says by which state a report can move a cluster in a state: the whole table.
var reached = map[resources.ClusterState][]resources.ClusterState{
	resources.ClusterProvisioning: {resources.ClusterProvisioning, resources.ClusterRunning, resources.ClusterError},
	resources.ClusterDeleting:     {resources.ClusterDeleting, resources.ClusterDeleted},
}

// TestEveryReportedTransition: those of the table are taken, each other one is refused, names what is
// allowed, and changes nothing.
func TestEveryReportedTransition(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		for current, allowed := range reached {
			for _, next := range resources.ClusterStates() {
				w.T.Run(fmt.Sprintf("%s to %s", current, next), func(t *testing.T) {
					w := newWorld(t)
					id := w.made(k, home, "web")
					c := w.claimed1(k)
					if current == resources.ClusterDeleting {
						w.Expect(w.call(k.remove, home, id, ""), 200)
						c = w.claimed1(k)
					}
					before := w.call(k.get, home, id, "")
					body := `{"status":"` + k.state(next) + `"}`
					if next == resources.ClusterError {
						body = `{"status":"` + k.state(next) + `","error":"no machines"}`
					}
					w.Clock.Add(1)
					got := w.report(c.id, worker, body)
					after := w.call(k.get, home, id, "")
					switch {
					case !slices.Contains(allowed, next):
						w.Expect(got, 409, `"code":"CONFLICT"`)
						for _, state := range allowed {
							if !strings.Contains(got.Text, k.state(state)) {
								t.Errorf("%s does not name %s", got.Text, state)
							}
						}
						if after.Text != before.Text {
							t.Errorf("%s, before %s", after.Text, before.Text)
						}
					case next == current:
						w.Expect(got, 200)
						if after.Text != before.Text {
							t.Errorf("%s, before %s", after.Text, before.Text)
						}
					default:
						w.Expect(got, 200, k.state(next))
						if after.Str(k.status) != k.state(next) || (after.Str("error") != "") != (next == resources.ClusterError) {
							t.Errorf("%s", after.Text)
						}
						w.Expect(w.report(c.id, worker, `{"extend_seconds":30}`), 409, "over")
					}
				})
			}
		}
	})
}

// TestOnlyWhatHasAnIntentIsClaimed: in each state.
func TestOnlyWhatHasAnIntentIsClaimed(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		for state, intent := range map[resources.ClusterState]string{
			resources.ClusterPending: "provision", resources.ClusterProvisioning: "provision", resources.ClusterRunning: "",
			resources.ClusterError: "", resources.ClusterDeleting: "delete", resources.ClusterDeleted: "",
		} {
			w := w.subTest(w.T)
			id := w.made(k, home, "web")
			w.set(k, id, state)
			got := w.claim(worker, `{}`)
			switch {
			case intent == "" && len(got) > 0:
				w.T.Errorf("%s is claimed", state)
			case intent != "" && (len(got) != 1 || got[0].intent != intent || got[0].cluster != id):
				w.T.Errorf("%s: %+v", state, got)
			}
			w.set(k, id, resources.ClusterDeleted)
		}
	})
}
