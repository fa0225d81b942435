package attacks_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/must"
)

// hostileRules are an operator's slips in a policy tree: endless rules, rules with no answer or too
// much of it, and forbidden calls.
const hostileRules = `package authz

deny contains "never" if {
	input.action.resource == "loop"
	many := numbers.range(1, 1000)
	count([1 | some i in many; some j in many; some k in many; i + j + k == 0]) > 0
}

deny contains "never" if {
	input.action.resource == "numbers"
	count(numbers.range(1, 1000000000000)) == 0
}

deny contains "never" if {
	input.action.resource == "addresses"
	count(net.cidr_expand("::/0")) == 0
}

deny contains "never" if {
	input.action.resource == "panic"
	rand.intn("no positive number", -9223372036854775808) == 0
}

deny contains "never" if {
	input.action.resource == "failing"
	to_number(input.subject.id) == 0
}

deny contains "never" if {
	input.action.resource == "conflict"
	_two
}

_two := 1 if input.subject.exists

_two := 2 if input.subject.exists

deny contains "never" if {
	input.action.resource == "square"
	some n in [2]
	a := n * 1e300
	b := ((a * a) * (a * a)) * ((a * a) * (a * a))
	b < 0
}
`

// loadArgs give the program a tree with those rules.
func loadArgs(t testing.TB) []string {
	tree := copyTree(t)
	file(t, filepath.Join(tree, "authz"), "hostile.rego", hostileRules)
	return []string{"--policy-dir", tree, "--policy-timeout", "100ms"}
}

func copyTree(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, part := range []string{"authz", "grants", "routes", "schemas"} {
		must.Do(t, os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join("../../policies", part))))
	}
	return dir
}

// loadAttacks: what a policy does to itself ends in 503 for that question alone; what the peer does
// with time and numbers is bounded; the next request is served.
func loadAttacks(w *attacksWorld, r *refusals) {
	r.unchanged("rules that fail", func() { failingRules(w, r) })
	trees(w, r)
	r.unchanged("slow peers", func() { slowPeers(w, r) })
	r.unchanged("silent peers", func() { silentPeers(w, r) })
	r.unchanged("many wrong credentials", func() { manyCredentials(w, r) })
	manyQuestions(w, r)
	if kib := w.resident(); kib > 1<<20 {
		r.fault("it takes %d KiB of memory", kib)
	}
}

func (w *attacksWorld) questionAbout(resource string) string {
	return strings.Replace(w.question("/api/v1/authorize/projects/"+w.tenant.project+"/x"), "project:instance:read", "project:"+resource+":read", 1)
}

// failingRules: the question that meets one is never allowed, others are.
func failingRules(w *attacksWorld, r *refusals) {
	late := w.failures("timeout")
	defer func() {
		if n := w.failures("timeout") - late; n < 5 {
			r.fault("the time of a policy ended %d evaluations, not each of a loop's", n)
		}
	}()
	for _, resource := range []string{"loop", "numbers", "addresses", "panic", "failing", "conflict"} {
		for range 5 {
			began := time.Now()
			a := r.refuse("a rule that is a "+resource, w.questionAbout(resource), 503)
			if took := time.Since(began); took > 5*time.Second {
				r.fault("a rule that is a %s takes %s", resource, took)
			}
			if !isUndecided(a.Body) {
				r.fault("a rule that is a %s: %s", resource, a.Body)
			}
		}
		r.allowed("beside a rule that is a "+resource, w.questionAbout("instance"))
	}
	r.allowed("large numbers", w.questionAbout("square"))
	if w.failures("memory") == 0 {
		r.fault("no failure for want of memory is counted")
	}
}

// failures is how many evaluations of decisions have failed in a way.
func (w *attacksWorld) failures(kind string) int {
	_, rest, _ := strings.Cut(w.metrics(), `portcullis_policy_failures_total{entry="decision",kind="`+kind+`"} `)
	line, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.Atoi(line) // there is no line before the first failure
	return n
}

// allowed is a question that must be allowed.
func (r *refusals) allowed(name, raw string) {
	r.cases++
	a, err := r.w.decided(raw)
	if err != nil {
		r.fault("%s: %v", name, err)
		return
	}
	if a.Status != 200 || !strings.HasPrefix(a.Body, `{"allowed":true`) {
		r.fault("%s: %d %s", name, a.Status, a.Body)
	}
}

// slowPeers hold connections open with next to nothing. The others are served, and the slow ones
// are refused when their time is over.
func slowPeers(w *attacksWorld, r *refusals) {
	const peers = 200
	var group sync.WaitGroup
	for i := range peers {
		group.Go(func() {
			c, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
			if err != nil {
				r.fault("slow peer: %v", err)
				return
			}
			defer func() { _ = c.Close() }()
			_ = c.SetDeadline(time.Now().Add(patience))
			switch head := w.questionAbout("instance"); i % 4 {
			case 0: // half a head
				_, _ = io.WriteString(c, head[:len(head)/2])
			case 1: // a body that never comes
				_, _ = io.WriteString(c, framings{w}.bare("Content-Length: 100"))
			case 2: // a byte now and then
				tick := time.NewTicker(200 * time.Millisecond)
				defer tick.Stop()
				for index := range head[:20] {
					if _, err := io.WriteString(c, head[index:index+1]); err != nil {
						break
					}
					<-tick.C
				}
			} // and nothing at all
			r.ended("slow peer", c)
		})
	}
	for range 20 {
		r.allowed("beside slow peers", w.questionAbout("instance"))
	}
	group.Wait()
	r.cases += peers
}

// patience is far more than the time that a peer has.
const patience = 30 * time.Second

// ended is a connection that the program has to end, and not with a success.
func (r *refusals) ended(name string, c net.Conn) {
	raw, err := io.ReadAll(c)
	if late := net.Error(nil); errors.As(err, &late) && late.Timeout() {
		r.fault("a %s is not told off", name)
	}
	if strings.HasPrefix(string(raw), "HTTP/1.1 200") {
		r.fault("a %s was served", name)
	}
}

// silentPeers all connect at once and say nothing: a later client does not wait behind them. The
// machine may do so once or twice.
func silentPeers(w *attacksWorld, r *refusals) {
	const peers, rounds, soon = 3000, 3, 500 * time.Millisecond
	var silent []net.Conn
	took := time.Hour
	for range rounds {
		for range peers / rounds {
			c, err := net.DialTimeout("tcp", strings.TrimPrefix(w.URL, "http://"), patience)
			if err != nil {
				r.fault("silent peer: %v", err)
				return
			}
			_ = c.SetDeadline(time.Now().Add(patience))
			silent = append(silent, c)
		}
		began := time.Now()
		r.allowed("behind silent peers", w.questionAbout("instance"))
		took = min(took, time.Since(began))
	}
	if took > soon {
		r.fault("who comes after %d silent peers waits for %s", peers/rounds, took)
	}
	for _, c := range silent {
		r.ended("silent peer", c)
		_ = c.Close()
	}
	r.cases += peers
}

// manyCredentials: thousands of wrong ones do not keep the right ones out.
func manyCredentials(w *attacksWorld, r *refusals) {
	const each = 1000
	var attacks []attack
	for i := range each {
		for name, credential := range map[string]string{"token": bearer(w.issuer.sign(fmt.Sprintf(`{"alg":"EdDSA","kid":"k%d"}`, i), w.good(same))), "key": "X-API-Key: " + summed(keyPrefix+fmt.Sprintf("%058d", i))} {
			attacks = append(attacks, attack{name: "one of many wrong " + name + "s", raw: request("GET", w.tenant.path("/roles"), "", credential), want: []int{401}})
		}
	}
	r.all(attacks)
	r.allowed("after many wrong credentials", w.questionAbout("instance"))
}

// manyQuestions: cold ones about one account, all at once, and all answered.
func manyQuestions(w *attacksWorld, r *refusals) {
	w.tenant.make(201, "POST", "/groups", `{"name":"cold"}`) // a new revision: nothing is known of it
	var attacks []attack
	for i := range 2000 {
		raw := strings.Replace(w.questionAbout(fmt.Sprintf("r%d", i)), "X-User-ID: "+w.tenant.admin, fmt.Sprintf("X-User-ID: user-cold%d-v1", i), 1)
		attacks = append(attacks, attack{name: "cold question", raw: raw, want: []int{200}})
	}
	r.all(attacks)
	r.allowed("after cold questions", w.questionAbout("instance"))
}

var residentLine = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

// resident is the program's memory in KiB, 0 if the system does not tell.
func (w *attacksWorld) resident() int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid)) // elsewhere there is none
	if m := residentLine.FindSubmatch(status); m != nil {
		n, _ := strconv.Atoi(string(m[1])) // only digits
		return n
	}
	return 0
}

// trees are refused by the check that a reload demands, with a reason on one line each.
func trees(w *attacksWorld, r *refusals) {
	deadline := newDeadSite(w.t)
	for name, rule := range forbiddenRules(deadline.URL) {
		r.cases++
		tree := copyTree(w.t)
		file(w.t, filepath.Join(tree, "authz"), "hostile.rego", "package authz\n\n"+rule+"\n")
		r.refusedTree(name, tree)
	}
	for name, schema := range map[string]string{
		"a schema of itself": `{"allOf":[{"$ref":"#"}]}`, "a schema with a member of itself": `{"properties":{"action":{"$ref":"#"}}}`, "a schema of elsewhere": `{"$ref":"` + deadline.URL + `"}`, "a schema that is none": `[]`, "a schema that is no JSON": `{`,
	} {
		for _, noun := range []string{"input", "grants", "routes"} {
			r.cases++
			tree := copyTree(w.t)
			file(w.t, filepath.Join(tree, "schemas", noun), "schema.json", schema)
			r.refusedTree(name+" for "+noun, tree)
		}
	}
	if n := deadline.asked.Load(); n > 0 {
		r.fault("a policy reached the network %d times", n)
	}
}

// deadSite counts who comes.
type deadSite struct {
	*httptest.Server
	asked atomic.Int64
}

func newDeadSite(t testing.TB) *deadSite {
	s := &deadSite{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { s.asked.Add(1) }))
	t.Cleanup(s.Close)
	return s
}
