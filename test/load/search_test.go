package load_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

const (
	// holders is the number of users with the role of the search.
	holders = 1000
	// searchGrowth bounds the cost of a search in the large account, as a ratio to a search among the holders alone.
	searchGrowth = 1.2
	// searchYes is the text in the answer to such a search.
	searchYes = `"results":[{"type":"user"`
	// latencies is the number of searches for the median time.
	latencies = 200
)

// newSearchWorld returns a world of users with a role in a project. The holders among them have another role in the
// whole account.
func newSearchWorld(b *testing.B, users int) *world {
	b.Helper()
	roles := loadRoles(2)
	roles[1].scope = resources.RoleScopeAccount
	w := &world{users: users, assignments: 1, roles: roles, holders: holders, tree: writeTree(b, roles)}
	return w.fill(b)
}

// search writes the question as a search for the subjects of its action in the account.
func (w *world) search(out []byte, q *question) []byte {
	body := fmt.Sprintf(`{"subject":{"type":"user"},"action":{"name":%q},"resource":{"type":"account","id":%q}}`, q.action, w.account)
	out = append(append(out, "POST /access/v1/search/subject HTTP/1.1\r\nHost: load\r\nContent-Type: application/json\r\nAuthorization: Bearer "...), w.tokens.service...)
	out = strconv.AppendInt(append(out, "\r\nContent-Length: "...), int64(len(body)), 10)
	return append(append(out, "\r\n\r\n"...), body...)
}

// first returns the search for the first page of the holders.
func (w *world) first() question {
	return question{action: w.roles[len(w.roles)-1].asked[0], allowed: true}
}

// BenchmarkLoadOfSearch prints the cost of a page of a subject search, and its growth with the users without the role.
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

// alone returns the time of one search without concurrent ones, in milliseconds.
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
