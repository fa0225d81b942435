package doors_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// upstreamName is the service's in the rows of the catalogue.
const upstreamName = "corpus"

// method is that of the calls: no other row of the catalogue has it.
const method = "SEARCH"

// arrived begins the headers in which the service answers with what it was sent.
const arrived = "Arrived-"

// identity are the headers of an allowed call, as the service gets them.
var identity = [...]string{"X-User-ID", "X-Account-ID", "X-Action"}

// hostOf is the host whose calls do the action.
func hostOf(action string) string {
	return strings.NewReplacer(":", "-", "_", "-").Replace(action) + ".example"
}

// policies is the policy tree with a row for each action.
func policies(t *testing.T) string {
	t.Helper()
	rows := map[string]any{}
	for _, action := range actions() {
		rows["corpus."+strings.ReplaceAll(action, ":", "_")] = map[string]any{
			"method": "*", "host": hostOf(action), "path": "/{rest+}", "action": action, "effect": "read", "upstream": upstreamName,
		}
	}
	dir := harness.CopyPolicies(t)
	file := filepath.Join(dir, "routes", "data.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{}
	must.Do(t, json.Unmarshal(text, &fields))
	maps.Copy(rows, fields)
	if text, err = json.Marshal(rows); err != nil {
		t.Fatal(err)
	}
	harness.WriteFile(t, file, string(text))
	return dir
}

// newUpstream starts the service: it answers with what it was sent.
func newUpstream(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(arrived+"Target", r.RequestURI)
		for _, name := range identity {
			w.Header().Set(arrived+name, r.Header.Get(name))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// startTeams starts a gateway on a policy tree with three tenants and an upstream, and connects to it as proxies that it trusts, and as anybody.
func startTeams(t *testing.T, tree string) (teams []*harness.Team, envoys []auth.AuthorizationClient, anybody auth.AuthorizationClient) {
	t.Helper()
	proxies, args := harness.WithTLS(t)
	args = append(args, "--policy-dir", tree, "--upstream", upstreamName+"="+newUpstream(t).URL, "--ext-authz-listen", "127.0.0.1:0")
	teams = harness.StartTeams(t, 3, args...)
	g := teams[0].Gateway
	return teams, newEnvoys(t, g, proxies), newEnvoys(t, g, nil)[0]
}

// newEnvoys connects to each replica as an Envoy of the authority, or as anybody.
func newEnvoys(t *testing.T, g *harness.Gateway, authority *servers.Authority) (all []auth.AuthorizationClient) {
	t.Helper()
	for _, replica := range g.Each() {
		c := must.Get(grpc.NewClient(replica.ExtAuthz, grpc.WithTransportCredentials(credentials.NewTLS(harness.AsProxy(t, authority)))))(t)
		t.Cleanup(func() { _ = c.Close() })
		all = append(all, auth.NewAuthorizationClient(c))
	}
	return all
}

// envoy is the next replica's.
func (w *doorsWorld) envoy() auth.AuthorizationClient {
	return w.envoys[w.asked.Add(1)%uint64(len(w.envoys))]
}

// isNamed says whether the question equals a call whose action the proxy names: the caller is the
// subject, and the account is the path's, else the caller's own.
func (q question) isNamed() bool {
	if q.caller.unknown { // 401, for any question
		return true
	}
	account := accountOf(q.caller.user)
	segments := strings.Split(q.path, "/")
	if index := slices.Index(segments, "accounts"); index >= 0 && index+1 < len(segments) {
		account = segments[index+1]
	}
	return q.caller.user != "" && q.subject == q.caller.user && q.account == account
}

// through returns the project to which the path of an account action goes on, "" for none.
func (q question) through() string {
	segments := strings.Split(q.path, "/")
	index := slices.Index(segments, "projects")
	if !strings.HasPrefix(q.action, "account:") || index < 0 || index+1 == len(segments) {
		return ""
	}
	return segments[index+1]
}

// ofCalls returns E3's answers to the questions as calls. E3 takes no account action on a project. Its answer about the
// account counts, if the project is an active one of it.
func (w *doorsWorld) ofCalls(t *testing.T, questions []question, e3 []answer) []answer {
	out := slices.Clone(e3)
	var some []question
	var offsets []int
	for i, q := range questions {
		if q.isNamed() && q.through() != "" && e3[i].status == 200 {
			q.path = "accounts/" + q.account
			some, offsets = append(some, q), append(offsets, i)
		}
	}
	for i, a := range doors()[0].ask(t, w, some) {
		asked := questions[offsets[i]]
		if a.allowed && !slices.Contains(w.names[asked.account][:2], asked.through()) { // the third one is deleted
			a = answer{status: 200, reason: "the project is not an active project of the account"}
		}
		out[offsets[i]] = a
	}
	if len(some) == 0 {
		t.Error("no account action is asked about on a project")
	}
	return out
}

// isCall says whether the question equals a call of a row: the action is one of the rows'.
func (q question) isCall() bool { return q.isNamed() && slices.Contains(actions(), q.action) }

// asEnvoy is Envoy's answer for E3's: a denied call is a 403.
func asEnvoy(_ question, e3 answer) answer {
	if e3.status == 200 && !e3.allowed {
		e3.status = 403
	}
	return e3
}

// asCall is asEnvoy at a door whose 200 has no place for a reason.
func asCall(q question, e3 answer) answer {
	a := asEnvoy(q, e3)
	if a.allowed {
		a.reason = ""
	}
	return a
}

// byRow is what a door says of a call that needs a row. None is for /, and that comes before what is wrong with the call.
func byRow(says func(question, answer) answer) func(question, answer) answer {
	return func(q question, e3 answer) answer {
		a := says(q, e3)
		if q.path == "" && a.status == 400 {
			a.status = 404
		}
		return a
	}
}

// asProxied is what a call through the gateway is answered where E3 says this. Its 403 has the words of
// its area, which name no reason; at / there is nothing; and what begins with // is refused first of all.
func asProxied(q question, e3 answer) answer {
	a := asCall(q, e3)
	a.reason = ""
	switch {
	case q.path == "": // nobody is asked for a credential there
		a = answer{status: 404}
	case q.path[0] == '/': // a target with two of them is no HTTP that servers read alike
		a = answer{status: 400}
	}
	return a
}
