package load_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"testing"
)

const (
	// batchSize is the number of questions in a batch.
	batchSize = 100
	// batchLimit bounds the cost of a warm batch, as a ratio to warm calls of E3 with the same questions.
	batchLimit = 0.3
	// batchYes is the text in an answer for each allowed question.
	batchYes = `"decision":true`
	// coldMost bounds the batches about new users in a window.
	coldMost = 60
)

// together returns a stream of batches of the stream's questions.
func together(next stream) stream {
	return func() question {
		q := question{batch: new([batchSize]question)}
		for i := range q.batch {
			q.batch[i] = next()
		}
		return q
	}
}

// byService returns the stream with a service as the caller of all questions.
func byService(next stream) stream {
	return func() question { q := next(); q.byUser = false; return q }
}

// aboutOne returns batchSize questions about each user, from the first one on: allowed and denied actions in one
// project, on one resource after the other.
func (w *world) aboutOne(first int) stream {
	i := -1
	return func() question {
		i++
		user, n := first+i/batchSize, i%batchSize
		q := w.allowed(user, n%actions*w.assignments)
		q.resource, q.byUser = "i-"+strconv.Itoa(n/actions), false
		if n%deniedOneIn == 0 {
			q.action, q.allowed = "project:nothing:verb00", false
		}
		return q
	}
}

// firstAsked returns one question about each user, from the first one on.
func (w *world) firstAsked(first int) stream {
	user := first - 1
	return func() question { user++; q := w.allowed(user, 0); q.byUser = false; return q }
}

// evaluations writes a batch as a request.
func (w *world) evaluations(out []byte, q *question) []byte {
	body := w.batchBody(q)
	out = append(append(out, "POST /access/v1/evaluations HTTP/1.1\r\nHost: load\r\nContent-Type: application/json\r\nAuthorization: Bearer "...), w.tokens.service...)
	out = strconv.AppendInt(append(out, "\r\nContent-Length: "...), int64(len(body)), 10)
	return append(append(out, "\r\n\r\n"...), body...)
}

func (w *world) batchBody(q *question) []byte {
	body := fmt.Appendf(nil, `{"context":{"account_id":%q},"evaluations":[`, w.account)
	for i := range q.batch {
		if i > 0 {
			body = append(body, ',')
		}
		one := &q.batch[i]
		body = fmt.Appendf(body, `{"subject":{"type":"user","id":%q},"action":{"name":%q},"resource":{"type":"path","id":"accounts/%s/projects/%s/instances/%s"}}`,
			userID(one.user), one.action, w.account, one.project, one.resource)
	}
	return append(body, "]}"...)
}

// compare asks a batch and checks each decision.
func (w *world) compare(b *testing.B, p *process, q question) {
	b.Helper()
	request, err := http.NewRequest(http.MethodPost, "http://"+p.address+"/access/v1/evaluations", bytes.NewReader(w.batchBody(&q)))
	if err != nil {
		b.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+w.tokens.service)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	var answer struct{ Evaluations []struct{ Decision bool } }
	if err != nil || json.Unmarshal(text, &answer) != nil || len(answer.Evaluations) != len(q.batch) {
		b.Fatalf("%d %s %v", response.StatusCode, text, err)
	}
	for i, one := range q.batch {
		if answer.Evaluations[i].Decision != one.allowed {
			b.Fatalf("%s: %t", one, !one.allowed)
		}
	}
}

// BenchmarkLoadOfBatch compares warm batches to warm calls of E3. It compares batches about new users to batches about
// known users and first calls of new users together.
func BenchmarkLoadOfBatch(b *testing.B) {
	r := &run{b: b, program: build(b)}
	roles := loadRoles(fewRoles)
	each := (*pairs + 1) * coldMost // users in a cell
	w := newWorld(b, repeated+3*each, assigned, writeTree(b, roles), roles)
	pinClient(b)
	p := r.must(startGateway(b, r.program, w))
	unknown, cached, alone := repeated, repeated+each, repeated+2*each
	var asked []question
	for _, q := range again(w) {
		q.byUser = false
		asked = append(asked, q)
	}
	for user := cached; user < alone; user++ { // this caches their facts, and no verdict of a batch
		q := w.allowed(user, 0)
		asked = append(asked, question{user: user, action: "project:nothing:known", project: q.project, resource: standing})
	}
	e3 := r.add("E3", p, w.request, gatewayYes, asked)
	batches := r.add("batches", p, w.evaluations, batchYes, []question{together(byService(same(w)))()})
	for _, next := range []stream{byService(same(w)), w.aboutOne(unknown), w.aboutOne(cached)} {
		w.compare(b, p, together(next)())
	}
	warm := &group{title: "a batch of 100 to 100 calls of E3, warm", limit: batchLimit, warm: repeated, cells: []*cell{
		{server: batches, next: together(byService(same(w)))}, {server: e3, next: byService(same(w))},
	}}
	cold := &group{title: "a batch of 100 about a new user to the user's first call and the batch about a known one", cells: []*cell{
		{server: batches, next: together(w.aboutOne(unknown + 1)), most: coldMost},
		{server: batches, next: together(w.aboutOne(cached + 1)), most: coldMost},
		{server: e3, next: w.firstAsked(alone), most: coldMost},
	}}
	for _, g := range []*group{warm, cold} {
		if err := g.measure(); err != nil {
			b.Fatal(err)
		}
	}
	batchReport(warm, cold)
	for _, s := range r.servers {
		s.remark(os.Stdout)
	}
}

func batchReport(warm, cold *group) {
	cost := func(c *cell) float64 { return medianOf(c.costs).median }
	fmt.Printf("\na batch of %d, warm: %.0f µs of CPU; a call of E3: %.1f µs\n", batchSize, cost(warm.cells[0]), cost(warm.cells[1]))
	fmt.Printf("about a new user: %.0f µs; about a known one, asked anew: %.0f µs; a new user's first call: %.0f µs\n",
		cost(cold.cells[0]), cost(cold.cells[1]), cost(cold.cells[2]))
	bases := [][]float64{make([]float64, *pairs), make([]float64, *pairs)}
	for i := range *pairs {
		bases[0][i] = batchSize * warm.cells[1].costs[i]
		bases[1][i] = cold.cells[1].costs[i] + cold.cells[2].costs[i]
	}
	t := &tally{}
	for i, g := range []*group{warm, cold} {
		m := ratioOf(g.cells[0].costs, bases[i])
		if g.limit == 0 {
			fmt.Printf("      %.3f  [%.3f, %.3f]  %s\n", m.median, m.low, m.high, g.title)
			continue
		}
		fmt.Printf("%s  %.3f  [%.3f, %.3f]  %s, at most %.2f\n", t.judge(m.median <= g.limit), m.median, m.low, m.high, g.title, g.limit)
	}
}
