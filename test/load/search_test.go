package load_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

const (
	// holders is how many users hold the role that a search is about.
	holders = 1000
	// searchGrowth is what a search among the users of the large account may cost at most, in searches
	// among the holders alone.
	searchGrowth = 1.2
	// searchYes is what the answer of such a search holds.
	searchYes = `"results":[{"type":"user"`
	// latencies is how many searches the median time is taken from.
	latencies = 200
)

// newSearchWorld has so many users, who hold a role in a project each, and holders among them to whom
// one more is assigned in the whole account.
func newSearchWorld(b *testing.B, users int) *world {
	b.Helper()
	roles := loadRoles(2)
	roles[1].scope = resources.RoleScopeAccount
	w := &world{users: users, assignments: 1, roles: roles, holders: holders, tree: writeTree(b, roles)}
	return w.fill(b)
}

// search writes the question as a search for the subjects who may do its action in the account.
func (w *world) search(to []byte, q *question) []byte {
	body := fmt.Sprintf(`{"subject":{"type":"user"},"action":{"name":%q},"resource":{"type":"account","id":%q}}`, q.action, w.account)
	to = append(append(to, "POST /access/v1/search/subject HTTP/1.1\r\nHost: load\r\nContent-Type: application/json\r\nAuthorization: Bearer "...), w.tokens.service...)
	to = strconv.AppendInt(append(to, "\r\nContent-Length: "...), int64(len(body)), 10)
	return append(append(to, "\r\n\r\n"...), body...)
}

// first asks for the first page of the holders.
func (w *world) first() question {
	return question{action: w.roles[len(w.roles)-1].asked[0], allowed: true}
}

// BenchmarkLoadOfSearch prints what a page of a subject search costs, and how that grows with the users of
// the account who do not hold the role.
func BenchmarkLoadOfSearch(b *testing.B) {
	r := &run{b: b, program: build(b)}
	worlds := []*world{newSearchWorld(b, *large), newSearchWorld(b, holders)}
	pinClient(b)
	g := &group{title: fmt.Sprintf("a search for %d holders, among %d users to among them alone", holders, *large), limit: searchGrowth, warm: latencies}
	for _, w := range worlds {
		s := r.add(fmt.Sprintf("among %d users", w.users), r.must(startGateway(b, r.program, w)), w.search, searchYes, []question{w.first()})
		g.cells = append(g.cells, &cell{server: s, next: w.first})
	}
	if err := g.measure(); err != nil {
		b.Fatal(err)
	}
	for _, c := range g.cells {
		took, err := c.alone()
		if err != nil {
			b.Fatal(err)
		}
		fmt.Printf("subject search %s: a page of 100 takes %.2f ms (p50), %.0f µs of CPU\n", c.name, took.median, medianOf(c.costs).median)
	}
	m, t := g.ratio(), &tally{}
	fmt.Printf("%s  %.3f  [%.3f, %.3f]  %s, at most %.2f\n", t.judge(m.median <= g.limit), m.median, m.low, m.high, g.title, g.limit)
}

// alone returns the time that one search takes while there is no other, in milliseconds.
func (c *cell) alone() (interval, error) {
	var took []float64
	for range latencies {
		h, err := c.run(1, c.next, func(asked int, _ time.Time) bool { return asked >= 1 })
		if err != nil {
			return interval{}, err
		}
		took = append(took, h.took.Seconds()*1e3)
	}
	return medianOf(took), nil
}
