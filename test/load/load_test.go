package load_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/servers"
)

// envOPA names the stock opa, of the version that the module depends on.
const envOPA = "PORTCULLIS_TEST_LOAD_OPA"

// run is everything that is measured together.
type run struct {
	b            *testing.B
	program, opa string
	contenders   []*contender
	comparisons  []*comparison
	starts       []start
	growth       growth
	// broken are limits that could not be measured, and why; skipped what the machine lacks.
	broken, skipped []string
}

// start is how long a gateway took until it was ready.
type start struct {
	title string
	took  time.Duration
	limit time.Duration
}

// BenchmarkLoad prints its figures itself: they are ratios of processes, and not the time of
// an operation.
func BenchmarkLoad(b *testing.B) {
	if runtime.NumCPU() < 2 {
		b.Skip("the server and the client need a core each")
	}
	r := &run{b: b, program: build(b), opa: os.Getenv(envOPA)}
	if r.opa == "" {
		r.opa = "../../.tools/bin/opa"
	}
	worlds := r.worlds()
	pinClient(b)
	r.gather(worlds)
	for turn := range *pairs {
		for _, c := range r.comparisons {
			if err := c.pair(turn); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, c := range r.contenders {
		c.listen(b)
	}
	if err := r.growth.grow(); err != nil {
		b.Fatal(err)
	}
	r.report(os.Stdout)
}

func build(b *testing.B) string {
	b.Helper()
	program := filepath.Join(b.TempDir(), "portcullis")
	build := exec.Command("go", "build", "-trimpath", "-o", program, "../../cmd/portcullis")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("building the program: %v\n%s", err, out)
	}
	return program
}

// pinClient keeps this process, and what it starts from now on, to the client's core.
func pinClient(b *testing.B) {
	b.Helper()
	if out, err := exec.Command("taskset", "-a", "-c", "-p", clientCore, strconv.Itoa(os.Getpid())).CombinedOutput(); err != nil {
		b.Fatalf("taskset: %v\n%s", err, out)
	}
	runtime.GOMAXPROCS(1)
}

// The worlds by what is different in them from the first one, which has one assignment for
// each of its users, and ten roles.
const (
	inBase  = "1 assignment, 10 roles"
	in10    = "10 assignments"
	in100   = "100 assignments"
	in1000  = "1,000 assignments"
	inRoles = "1,000 roles"
	inUsers = "a large account"
	inReal  = "the real roles"
)

// worlds makes the data before anything is pinned and measured.
func (r *run) worlds() map[string]*world {
	began := time.Now()
	few, many := loadRoles(10), loadRoles(1000)
	tree := writeTree(r.b, few)
	if *onlyCold {
		return map[string]*world{inUsers: newWorld(r.b, *large, 1, tree, few)}
	}
	w := map[string]*world{
		inBase:  newWorld(r.b, *asked, 1, tree, few),
		in10:    newWorld(r.b, *asked, 10, tree, few),
		in100:   newWorld(r.b, *asked, 100, tree, few),
		in1000:  newWorld(r.b, *asked, 1000, tree, few),
		inRoles: newWorld(r.b, *asked, 1, writeTree(r.b, many), many),
		inUsers: newWorld(r.b, *large, 1, tree, few),
	}
	if path := os.Getenv(envRealRoles); path == "" {
		r.skipped = append(r.skipped, "the real roles: "+envRealRoles+" names no file")
	} else {
		all := realRoles(r.b, path)
		w[inReal] = newWorld(r.b, *asked, 1, writeTree(r.b, all), asking(all))
	}
	fmt.Printf("data made in %.0f s\n", time.Since(began).Seconds())
	return w
}

// gather starts all servers and says what is compared with what.
func (r *run) gather(w map[string]*world) {
	opa := r.must(startOPA(r.b, r.opa, w[inUsers].tree))
	r.cold(w[inUsers], opa)
	if *onlyCold {
		r.skipped = append(r.skipped, "all but what is new: -cold")
		return
	}
	warm := r.gateway(inBase, w[inBase])
	r.growth.of = warm
	bare := r.add("bare fiber handler", r.must(startBare(r.b)), newQuestions(w[inBase], everybody(w[inBase]), w[inBase].request), "", 2000)
	opaWarm := r.askOPA("OPA's server", opa, w[inBase], false)
	r.compare("warm to the bare handler", warm, bare, 1.3)
	r.compare("warm to OPA's server", warm, opaWarm, 1.0/7)

	r.compare("10 assignments to 1", r.gateway(in10, w[in10]), warm, 0)
	r.compare("100 assignments to 1", r.gateway(in100, w[in100]), warm, 0)
	r.compare("1,000 assignments to 1", r.gateway(in1000, w[in1000]), warm, 1.2)
	r.compare("OPA's server, 1,000 assignments to 1", r.askOPA("OPA's server, 1,000 assignments", opa, w[in1000], false), opaWarm, 0)
	roles := r.gateway(inRoles, w[inRoles])
	r.compare("1,000 roles to 10", roles, warm, 1.1)
	r.starts = append(r.starts, start{inRoles, roles.p.ready, time.Second})
	r.compare("as many questions in a large account", r.gateway(inUsers, w[inUsers]), warm, 1.2)
	all := r.once("everybody in a large account, warm", w[inUsers].copied(r.b))
	r.compare("questions about everybody in a large account", all.warm(r.b, *large), warm, 0)
	if w[inReal] != nil {
		r.realRoles(w[inReal], warm)
	}
	r.others(w[inBase], warm)
}

// cold asks about each user once. Its processes are those of the whole run, whatever else is measured.
func (r *run) cold(w *world, opa *process) {
	cold := r.once("cold: a new user each time", w.copied(r.b))
	cold.most = (*large - *connections) / (*pairs + 1)
	r.compare("cold to OPA's server", cold, r.askOPA("OPA's server, the questions of cold", opa, w, true), 1)
}

// realRoles may be more than a gateway takes: then both of their limits are failed.
func (r *run) realRoles(w *world, warm *contender) {
	p, err := startGateway(r.b, r.program, w)
	if err != nil {
		r.broken = append(r.broken, fmt.Sprintf("%s: %v", inReal, err), fmt.Sprintf("%s to 10: it does not start", inReal))
		return
	}
	r.starts = append(r.starts, start{inReal, p.ready, 3 * time.Second})
	r.compare(inReal+" to 10", r.warm(inReal, p, w), warm, 1.1)
}

func (r *run) must(p *process, err error) *process {
	if err != nil {
		r.b.Fatalf("a server can't be started: %v", err)
	}
	return p
}

// others sets a gateway on MongoDB and Redis against the embedded store.
func (r *run) others(w *world, warm *contender) {
	_, noMongo := servers.Mongod()
	_, noRedis := exec.LookPath("redis-server")
	if noMongo != nil || noRedis != nil {
		r.skipped = append(r.skipped, "MongoDB and Redis: they need a mongod in PATH or in "+servers.EnvMongod+", and a redis-server in PATH")
		return
	}
	database := servers.Mongo(r.b, 1).Database(r.b)
	w.onMongoDB(r.b, database)
	other := r.gateway("on MongoDB and Redis", w, "--data-dir", r.b.TempDir(), "--master-key-file", filepath.Join(w.dir, "master.key"),
		"--mongo-url", database, "--redis-url", "redis://"+servers.Redis(r.b).Address())
	r.comparisons = append(r.comparisons, &comparison{
		title: "embedded to MongoDB and Redis, in requests/s", of: other, to: warm, limit: 1.05, rates: true,
	})
}

// gateway is one whose questions were all asked before.
func (r *run) gateway(name string, w *world, args ...string) *contender {
	return r.warm(name, r.must(startGateway(r.b, r.program, w, args...)), w)
}

func (r *run) warm(name string, p *process, w *world) *contender {
	q := newQuestions(w, some(w, *asked), w.request)
	return r.add(name, p, q, gatewayYes, q.total())
}

// once is a gateway that is asked one question about each user of a world. The first ones
// only open the connections: one that says nothing for ten seconds is closed.
func (r *run) once(name string, w *world) *contender {
	q := newQuestions(w, everybody(w), w.request)
	q.once = true
	return r.add(name, r.must(startGateway(r.b, r.program, w)), q, gatewayYes, *connections)
}

func (r *run) askOPA(name string, p *process, w *world, once bool) *contender {
	q := newQuestions(w, some(w, *asked), newOPARequests(r.b, w).request)
	if once {
		q.who, q.once = everybody(w), true
	}
	return r.add(name, p, q, opaYes, 500)
}

func (r *run) add(name string, p *process, q *questions, yes string, warm int) *contender {
	c := &contender{name: name, p: p, client: newClient(r.b, p.address, *connections, q, yes)}
	r.contenders = append(r.contenders, c)
	return c.warm(r.b, warm)
}

func (r *run) compare(title string, of, to *contender, limit float64) {
	r.comparisons = append(r.comparisons, &comparison{title: title, of: of, to: to, limit: limit})
}
