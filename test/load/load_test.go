package load_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/servers"
)

// envOPA names the stock opa program, of the version in go.mod.
const envOPA = "PORTCULLIS_TEST_LOAD_OPA"

// The texts of answers that allow.
const (
	gatewayYes = `"allowed":true`
	opaYes     = `"allow":true`
)

// run is one run of BenchmarkLoad.
type run struct {
	b            *testing.B
	program, opa string
	servers      []*server
	// traffic has a group for each kind of traffic, growth a pair of servers for each limit of growth.
	traffic, growth []*group
	starts          []start
	allocations     allocations
	// broken has limits without a measurement, with the reasons. skipped has parts for which the machine lacks
	// something.
	broken, skipped []string
}

// start is the time of a gateway's start until it was ready.
type start struct {
	title string
	took  time.Duration
	limit time.Duration
}

// BenchmarkLoad prints its figures itself: they are ratios between processes, not times of an operation.
func BenchmarkLoad(b *testing.B) {
	if runtime.NumCPU() < 2 {
		b.Skip("the server and the client need a core each")
	}
	if *knownUsers < repeated || *large < *knownUsers+reserved+*pairs {
		b.Fatalf("-known %d must be at least %d, and -large %d leave users to be seen for the first time", *knownUsers, repeated, *large)
	}
	r := &run{b: b, program: build(b), opa: os.Getenv(envOPA)}
	if r.opa == "" {
		r.opa = "../../.tools/bin/opa"
	}
	worlds := r.worlds()
	pinClient(b)
	r.gather(worlds)
	for _, g := range slices.Concat(r.traffic, r.growth) {
		if err := g.measure(); err != nil {
			b.Fatal(err)
		}
	}
	if err := r.allocations.measure(); err != nil {
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

// pinClient pins this process and its later children to the client's core.
func pinClient(b *testing.B) {
	b.Helper()
	if out, err := exec.Command("taskset", "-a", "-c", "-p", clientCore, strconv.Itoa(os.Getpid())).CombinedOutput(); err != nil {
		b.Fatalf("taskset: %v\n%s", err, out)
	}
	runtime.GOMAXPROCS(1)
}

// The worlds. In the large account each user has three of ten roles; the others differ from it in one thing.
const (
	inLarge = "the large account"
	inSmall = "a small account"
	inMany  = "1,000 assignments"
	inRoles = "1,000 roles"
	inReal  = "the real roles"
)

const (
	// opaServer is the server with the cost 10 in the report.
	opaServer = "OPA's server"
	fewRoles  = 10
	// assigned is the number of assignments of a user.
	assigned = 3
)

// worlds creates the data, before the run pins and measures.
func (r *run) worlds() map[string]*world {
	began := time.Now()
	few := loadRoles(fewRoles)
	tree := writeTree(r.b, few)
	w := map[string]*world{inLarge: newWorld(r.b, *large, assigned, tree, few)}
	if !*onlyTraffic {
		many := loadRoles(1000)
		w[inSmall] = newWorld(r.b, repeated, assigned, tree, few)
		w[inMany] = newWorld(r.b, repeated, 1000, tree, few)
		w[inRoles] = newWorld(r.b, repeated, assigned, writeTree(r.b, many), many)
		if path := os.Getenv(envRealRoles); path == "" {
			r.skipped = append(r.skipped, "the real roles: "+envRealRoles+" names no file")
		} else {
			all := realRoles(r.b, path)
			w[inReal] = newWorld(r.b, repeated, assigned, writeTree(r.b, all), asking(all))
		}
	}
	fmt.Printf("data made in %.0f s\n", time.Since(began).Seconds())
	return w
}

// gather starts all servers and forms the groups to compare.
func (r *run) gather(w map[string]*world) {
	gateway := r.gatherTraffic(w[inLarge])
	if *onlyTraffic {
		r.skipped = append(r.skipped, "how the cost grows: -traffic")
		return
	}
	small := w[inSmall]
	base := r.gateway(inSmall, small, again(small))
	r.allocations.cell = &cell{server: base, next: same(small)}
	compare := func(title string, s *server, data *world, limit float64) *group {
		g := &group{title: title, limit: limit, cells: []*cell{{server: s, next: same(data)}, {server: base, next: same(small)}}}
		r.growth = append(r.growth, g)
		return g
	}
	compare("1,000 assignments to 3", r.gateway(inMany, w[inMany], again(w[inMany])), w[inMany], 1.2)
	roles := r.gateway(inRoles, w[inRoles], again(w[inRoles]))
	r.starts = append(r.starts, start{inRoles, roles.p.ready, time.Second})
	compare("1,000 roles to 10", roles, w[inRoles], 1.1)
	compare("the large account to a small one", gateway, w[inLarge], 1.2)
	if large := w[inReal]; large != nil {
		if p, err := startGateway(r.b, r.program, large); err != nil { // a gateway may reject so many roles
			r.broken = append(r.broken, fmt.Sprintf("%s: %v", inReal, err), fmt.Sprintf("%s to 10: it does not start", inReal))
		} else {
			r.starts = append(r.starts, start{inReal, p.ready, 3 * time.Second})
			compare(inReal+" to 10", r.add(inReal, p, large.request, gatewayYes, again(large)), large, 1.1)
		}
	}
	if other := r.onMongoDB(small); other != nil {
		compare("embedded to MongoDB and Redis, in requests/s", other, small, 1.05).rates = true
	}
}

// gatherTraffic starts a gateway and its peers, and checks their answers to the corpus. The mix comes last: its
// questions must be new in the kinds before it.
func (r *run) gatherTraffic(w *world) (gateway *server) {
	corpus := w.corpus()
	peers := []*server{
		r.gateway("portcullis", w, corpus),
		r.peer("bare handler", peerBare, w, corpus),
		r.peer("bare handler that verifies the token", peerToken, w, corpus),
		r.add(opaServer, r.must(startOPA(r.b, r.opa, w.tree)), newOPARequests(r.b, w).request, opaYes, corpus),
		r.add("OPA's server, a small policy", r.must(startOPA(r.b, r.opa, smallTree(r.b, w.tree))), w.smallRequest(), opaYes, corpus),
		r.peer("cedar-go in a fiber handler", peerCedar, w, corpus),
		r.peer("casbin in a fiber handler", peerCasbin, w, corpus),
	}
	for _, kind := range []struct {
		group
		start func(*world) stream
		most  int
	}{
		{group{title: "the same question again", limit: 1.6, warm: repeated}, same, 0},
		{group{title: "a new resource id", limit: 1.8, warm: repeated}, newResource, 0},
		{group{title: "a new question about a known user", limit: 9}, newQuestion, 0},
		{group{title: "a user seen for the first time", limit: 18}, newUser, (w.users - *knownUsers - reserved) / *pairs},
		{group{title: "a mix like traffic", warm: *knownUsers}, mix, 0},
	} {
		g := &kind.group
		for _, s := range peers {
			g.cells = append(g.cells, &cell{server: s, next: kind.start(w), most: kind.most})
		}
		r.traffic = append(r.traffic, g)
	}
	return peers[0]
}

func (r *run) must(p *process, err error) *process {
	if err != nil {
		r.b.Fatalf("a server can't be started: %v", err)
	}
	return p
}

// onMongoDB starts a gateway on MongoDB and Redis. It returns nil if the machine lacks them.
func (r *run) onMongoDB(w *world) *server {
	_, noMongo := servers.Mongod()
	_, noRedis := exec.LookPath("redis-server")
	if noMongo != nil || noRedis != nil {
		r.skipped = append(r.skipped, "MongoDB and Redis: they need a mongod in PATH or in "+servers.EnvMongod+", and a redis-server in PATH")
		return nil
	}
	database := servers.Mongo(r.b, 1).Database(r.b)
	w.onMongoDB(r.b, database)
	return r.gateway("on MongoDB and Redis", w, again(w), "--data-dir", r.b.TempDir(), "--master-key-file", filepath.Join(w.dir, "master.key"),
		"--mongo-url", database, "--redis-url", "redis://"+servers.Redis(r.b).Address())
}

func (r *run) gateway(name string, w *world, first []question, args ...string) *server {
	return r.add(name, r.must(startGateway(r.b, r.program, w, args...)), w.request, gatewayYes, first)
}

// peer starts a peer with the data of the world. The world must have fewRoles roles.
func (r *run) peer(name, kind string, w *world, first []question) *server {
	yes := gatewayYes
	if kind == peerBare || kind == peerToken {
		yes = "" // they make no decision
	}
	settings := peer{Kind: kind, Account: w.account, Roles: fewRoles, Users: w.users, Assignments: w.assignments, Key: w.key}
	return r.add(name, r.must(startPeer(r.b, settings)), w.request, yes, first)
}

// add connects to a server and asks the first questions at once, since a server may close a connection that is silent
// for ten seconds. It fails at the first wrong verdict.
func (r *run) add(name string, p *process, render func([]byte, *question) []byte, yes string, first []question) *server {
	r.b.Helper()
	s := &server{name: name, p: p, client: newClient(r.b, p.address, render, yes)}
	r.servers = append(r.servers, s)
	i := -1
	if err := s.ask(func() question { i++; return first[i] }, len(first)); err != nil {
		r.b.Fatal(err)
	}
	if s.refused > 0 {
		r.b.Fatalf("%s: %d of the first questions have no verdict", s.name, s.refused)
	}
	return s
}
