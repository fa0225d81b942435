package clienttest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/client"
)

// Token is the only credential that the gateway takes.
const Token = "clienttest"

// Gateway answers questions as the test says. Its fields are set before the first question.
type Gateway struct {
	// URL is where it is; its keys of assertions are at KeysURL.
	URL, KeysURL string
	// Allow decides; nil denies everything. A question of E3 comes with the user, the action and a
	// resource of type path, whose property account_id is the account.
	Allow func(client.Evaluation) bool
	// Subjects, Resources and Actions are what searches look through.
	Subjects  []client.Subject
	Resources []client.Resource
	Actions   []client.Action

	keys assertionKeys
	mu   sync.Mutex
	fail []int
	seen []client.Evaluation
}

// New starts a gateway that ends with the test.
func New(t testing.TB) *Gateway {
	t.Helper()
	g := &Gateway{keys: newAssertionKeys(t)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/authorize/", g.check)
	mux.HandleFunc("POST /access/v1/evaluation", g.evaluation)
	mux.HandleFunc("POST /access/v1/evaluations", g.evaluations)
	mux.HandleFunc("POST /access/v1/search/subject", g.subjects)
	mux.HandleFunc("POST /access/v1/search/resource", g.resources)
	mux.HandleFunc("POST /access/v1/search/action", g.actions)
	mux.HandleFunc("GET "+keysPath, g.keys.serve)
	server := httptest.NewServer(g.failing(mux))
	t.Cleanup(server.Close)
	g.URL, g.KeysURL = server.URL, server.URL+keysPath
	return g
}

// Client returns a client of the gateway.
func (g *Gateway) Client(t testing.TB) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{URL: g.URL, Token: client.StaticToken(Token)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Fail has the next requests answered with these statuses; 0 is a broken connection.
func (g *Gateway) Fail(statuses ...int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fail = append(g.fail, statuses...)
}

// Questions returns every question that was decided.
func (g *Gateway) Questions() []client.Evaluation {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]client.Evaluation(nil), g.seen...)
}

// decide decides, and notes the question.
func (g *Gateway) decide(e client.Evaluation) bool {
	g.mu.Lock()
	g.seen = append(g.seen, e)
	g.mu.Unlock()
	return g.Allow != nil && g.Allow(e)
}

// failing answers what is to fail, and what has another credential.
func (g *Gateway) failing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		status, fails := 0, len(g.fail) > 0
		if fails {
			status, g.fail = g.fail[0], g.fail[1:]
		}
		g.mu.Unlock()
		switch {
		case fails && status == 0:
			panic(http.ErrAbortHandler)
		case fails:
			refuse(w, status)
		case r.URL.Path != keysPath && r.Header.Get("Authorization") != "Bearer "+Token:
			refuse(w, http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func (g *Gateway) check(w http.ResponseWriter, r *http.Request) {
	allowed := g.decide(client.Evaluation{
		Subject: client.Subject{Type: client.TypeUser, ID: r.Header.Get("X-User-ID")}, Action: client.Action{Name: r.Header.Get("X-Action")},
		Resource: client.Resource{
			Type: client.TypePath, ID: strings.TrimPrefix(r.RequestURI, "/api/v1/authorize/"),
			Properties: map[string]any{"account_id": r.Header.Get("X-Account-ID")},
		},
	})
	w.Header().Set("X-Decision-ID", "decision")
	w.Header().Set("X-Policy-Revision", "policy")
	w.Header().Set("X-Account-Revision", "1")
	answer(w, map[string]any{"allowed": allowed, "reason": reason(allowed)})
}

func (g *Gateway) evaluation(w http.ResponseWriter, r *http.Request) {
	var e client.Evaluation
	if read(w, r, &e) {
		answer(w, decision(g.decide(e)))
	}
}

// evaluations answers a batch of AuthZEN.
func (g *Gateway) evaluations(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Evaluations []client.Evaluation `json:"evaluations"`
		Options     struct {
			Semantic *client.Semantic `json:"evaluations_semantic"`
		} `json:"options"`
	}
	if !read(w, r, &body) {
		return
	}
	s := client.ExecuteAll
	if sent := body.Options.Semantic; sent != nil {
		s = *sent
	}
	switch s {
	case client.ExecuteAll, client.DenyOnFirstDeny, client.PermitOnFirstPermit:
	default:
		refuse(w, http.StatusBadRequest)
		return
	}
	out := []any{}
	for _, e := range body.Evaluations {
		allowed := g.decide(e)
		out = append(out, decision(allowed))
		if allowed && s == client.PermitOnFirstPermit || !allowed && s == client.DenyOnFirstDeny {
			break
		}
	}
	answer(w, map[string]any{"evaluations": out})
}

func decision(allowed bool) any {
	return map[string]any{"decision": allowed, "context": map[string]any{
		"reason": reason(allowed), "decision_id": "decision", "policy_revision": "policy", "account_revision": 1,
	}}
}

func reason(allowed bool) string { return "the test says " + strconv.FormatBool(allowed) }

func read(w http.ResponseWriter, r *http.Request, v any) bool {
	if err := json.NewDecoder(r.Body).Decode(v); err != nil || r.Header.Get("Content-Type") != "application/json" {
		refuse(w, http.StatusBadRequest)
		return false
	}
	return true
}

func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("X-Request-ID", "request")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{ // a client that is gone needs no answer
		"code": http.StatusText(status), "message": "the test says so", "details": []string{"no detail"},
	}})
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // a client that is gone needs no answer
}
