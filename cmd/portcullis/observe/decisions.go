package observe

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/resources"
)

// The doors at which a decision is asked for. Calls of the gateway's own routes and of upstreams are
// judged at the edge.
const (
	doorEdge = "edge"
	// doorAuthZEN answers several questions at once, so each is counted by Decided.
	doorAuthZEN = "authzen"
)

func doorNames() []string {
	return []string{doorEdge, "authorization", doorAuthZEN, "forward_auth", "ext_authz", "mcp"}
}

const (
	// codeNone is the code of a decision without one, codeOther that of a tree with codes of its own.
	codeNone  = "none"
	codeOther = "other"
)

// allowCodes and denyCodes are the codes of the embedded policy tree (policies/authz/reasons.rego) and the one of the
// engine, needs_known_action.
func allowCodes() []string {
	return []string{"role", "public", "service_scope", "asks_self", "self", "self_by_token", "member", "holds_all"}
}

func denyCodes() []string {
	return []string{
		"needs_active_member", "needs_active_account", "needs_same_account", "needs_account_level", "needs_active_project", "needs_credential_scope",
		"needs_registered_agent", "needs_active_agent", "needs_delegation",
		"needs_known_action", "incomplete", "deny_rule", "no_role", "no_credential", "no_service_scope", "not_own", "not_a_user", "nothing_to_grant", "not_held",
	}
}

// decisionLabels are the labels of a decision, with "" for no code.
type decisionLabels struct {
	door    string
	allowed bool
	code    string
}

// maxCodes bounds the codes used as labels in the life of the process, over all trees.
const maxCodes = 200

// decisionCounters are the counters of all decisions. Those of the embedded tree's codes are looked up once: there is a decision
// for every question of a batch.
type decisionCounters struct {
	vec      *prometheus.CounterVec
	counters map[decisionLabels]prometheus.Counter
	// codes are those of trees in force beside the embedded one.
	codes *atomic.Pointer[map[string]bool]
}

func newDecisions() decisionCounters {
	d := decisionCounters{
		counters: map[decisionLabels]prometheus.Counter{}, codes: &atomic.Pointer[map[string]bool]{}, vec: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portcullis_decisions_total", Help: "Decisions of the policy that were answered, by the door at which they were asked for, and the code of their reason.",
		}, []string{"door", "decision", "code"}),
	}
	d.codes.Store(&map[string]bool{})
	for _, door := range doorNames() {
		for allowed, codes := range map[bool][]string{true: allowCodes(), false: denyCodes()} {
			for _, code := range append(codes, "", codeOther) {
				d.counters[decisionLabels{door, allowed, code}] = d.vec.WithLabelValues(door, resources.DecisionWord(allowed), cmp.Or(code, codeNone))
			}
		}
	}
	return d
}

// counter returns the counter of decisions at a door. A code that is not a constant of a tree in force is not a label.
func (d decisionCounters) counter(door string, allowed bool, code string) prometheus.Counter {
	if c := d.counters[decisionLabels{door, allowed, code}]; c != nil {
		return c
	}
	if (*d.codes.Load())[code] {
		return d.vec.WithLabelValues(door, resources.DecisionWord(allowed), code)
	}
	return d.counters[decisionLabels{door, allowed, codeOther}]
}

// PolicyCodes makes labels of the codes of the tree in force, as long as there is room. Requests judged by it before were
// counted without them. One goroutine calls it.
func (m *Metrics) PolicyCodes(codes []string) {
	embedded, next := append(allowCodes(), denyCodes()...), maps.Clone(*m.decisions.codes.Load())
	for _, code := range codes {
		if len(embedded)+len(next) < maxCodes && !slices.Contains(embedded, code) {
			next[code] = true
		}
	}
	m.byLabels.mu.Lock()
	defer m.byLabels.mu.Unlock()
	m.decisions.codes.Store(&next)
	clear(m.byLabels.seen)
}

// doorOf returns the door of a route of the catalogue.
func doorOf(route string) string {
	if area, _, _ := strings.Cut(route, "."); slices.Contains(doorNames(), area) {
		return area
	}
	return doorEdge
}

// Decided counts a decision on one question of several. Candidates of a search do not count as answered questions.
func (m *Metrics) Decided(route string, d *resources.Decision) {
	if doorOf(route) == doorAuthZEN && !strings.Contains(route, "search") {
		m.decisions.counter(doorAuthZEN, d.Allowed, d.Code).Inc()
	}
}

// decided returns the counter of a request's decision, nil for one that is counted by Decided, or
// without a decision.
func (m *Metrics) decided(r *gateway.Record) prometheus.Counter {
	door := doorOf(r.Route)
	if r.PolicyRevision == "" || door == doorAuthZEN {
		return nil
	}
	return m.decisions.counter(door, r.Allowed, r.Code)
}
