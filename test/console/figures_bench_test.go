//go:build nightly

package console_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/test/harness"
)

const (
	// many is the number of people without roles in the account.
	many = 100_000
	// together is the number of records that one transaction makes.
	together = 5_000
	// keys is the number of the admin's keys.
	keys = 10
	// followed is the number of pages that follow decisions beside the questions. allFollowers is the limit of an account.
	followed, allFollowers = 20, 200
	// perWindow is the number of questions in a window, one every 2 ms.
	perWindow, every = 2_000, 2 * time.Millisecond
)

// startMany starts a gateway with the account of startCrowd and many more people, without rates. Every list but
// the keys has more than a page. Its admin is signed in.
func startMany(b *testing.B, settings ...string) (*harness.Gateway, *browser) {
	b.Helper()
	members := []harness.Member{{ID: whoAdmin, Roles: []string{"account_admin"}}}
	for n := range crowd {
		members = append(members, harness.Member{ID: reader(n), Roles: []string{"account_reader"}})
	}
	dir := b.TempDir()
	harness.Seed(b, dir, whoAccount, whoProject, members...)
	c := records.NewCollections()
	for first := 0; first < many; first += together {
		harness.SeedRecords(b, dir, c, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Bump(ctx, whoAccount)
			for n := first; n < first+together && err == nil; n++ {
				err = c.Users.Insert(ctx, tx, harness.MemberRecord(whoAccount, fmt.Sprintf("user-many%06d-v1", n)))
			}
			return err
		})
	}
	g := harness.StartIn(b, dir, slices.Concat([]string{"--log-level", "warn"}, console, settings)...)
	fill(b, g)
	return g, signIn(b, g, whoAdmin)
}

// fill makes groups, roles, keys and, with them, changes, and asks questions.
func fill(b *testing.B, g *harness.Gateway) {
	b.Helper()
	token, account := g.UserToken(b, whoAdmin), g.URL+"/api/v1/accounts/"+whoAccount
	for n := range crowd {
		for path, body := range map[string]string{
			"/groups": `{"name":"group %d","description":"people who look after machine %[1]d"}`,
			"/roles":  `{"name":"role %d","scope":"PROJECT","permissions":["project:instance:start","project:*:read"]}`,
		} {
			if r := harness.Call(b, http.MethodPost, account+path, token, fmt.Sprintf(body, n)); r.Status != http.StatusCreated {
				b.Fatalf("%s: %d %s", path, r.Status, r.Raw)
			}
		}
	}
	for n := range keys {
		r := harness.Call(b, http.MethodPost, account+"/users/"+whoAdmin+"/keys", token, fmt.Sprintf(`{"key_name":"key %d","scopes":["read"]}`, n))
		if r.Status != http.StatusCreated {
			b.Fatalf("%d %s", r.Status, r.Raw)
		}
	}
	ask := newAsker(b, g)
	for n := range 1_000 {
		ask(reader(n % crowd))
	}
}

// BenchmarkPages measures the time to the first byte of each page, with 100,000 people in the account, and the gateway's
// CPU time for it.
func BenchmarkPages(b *testing.B) {
	g, admin := startMany(b)
	for _, page := range []struct{ name, path string }{
		{"overview", "/"},
		{"people", "/people"},
		{"find", "/people?q=user-many0999"},
		{"groups", "/groups"},
		{"roles", "/roles"},
		{"keys", "/people/" + whoAdmin + "/keys"},
		{"decisions", "/decisions"},
		{"allowed", "/decisions?verdict=allow"},
		{"changes", "/changes"},
		{"policy", "/policy"},
		{"platform", "/platform"},
		{"ask", "/ask?user=" + reader(7) + "&action=account:user:delete"},
		{"who", "/who?find=people&action=account:user:read"},
		{"matrix", "/who?find=matrix"},
	} {
		b.Run(page.name, func(b *testing.B) {
			var took []time.Duration
			size := 0
			for range 10 {
				admin.get(page.path)
			}
			before := harness.CPU(b, g.Cmd.Process.Pid)
			for b.Loop() {
				began := time.Now()
				resp, err := admin.client.Do(admin.request(http.MethodGet, page.path, nil))
				if err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
				raw, err := io.ReadAll(resp.Body)
				if err = errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusOK {
					b.Fatalf("%d %v", resp.StatusCode, err)
				}
				size = len(raw)
			}
			b.ReportMetric(ms(harness.CPU(b, g.Cmd.Process.Pid)-before)/float64(len(took)), "cpu-ms")
			report(b, took)
			b.ReportMetric(float64(size)/1024, "KiB")
		})
	}
}

// BenchmarkQuestions measures E3 alone, beside pages that follow decisions, and beside as many clients of a health
// endpoint with as many requests a second. The order alternates. It sends a question every 2 ms and measures the latency from that moment. Its
// figures are medians over turns. A turn in which the host took more than 2 % of the processors away from this machine
// doesn't count.
func BenchmarkQuestions(b *testing.B) {
	g, _ := startMany(b)
	ask := newAsker(b, g)
	beside := map[string]func() (end func()){
		"alone": func() func() { return func() {} },
		"pages": func() func() { return follow(b, g, followed) },
		"polls": func() func() { return poll(b, g, followed) },
	}
	var turns []map[string]window
	order, disturbed := []string{"alone", "pages", "polls"}, 0
	for b.Loop() {
		turn, stolen := map[string]window{}, 0.0
		for _, name := range order {
			end := beside[name]()
			time.Sleep(2 * time.Second) // each has asked once
			turn[name] = questions(b, g, ask)
			end()
			stolen = max(stolen, turn[name].stolen)
		}
		slices.Reverse(order)
		if stolen > 0.02 {
			disturbed++
			continue
		}
		turns = append(turns, turn)
	}
	if len(turns) == 0 {
		b.Fatalf("each of %d turns was disturbed", disturbed)
	}
	middle := func(name string, figure func(turn map[string]window) float64) {
		slices.SortFunc(turns, func(x, y map[string]window) int { return cmp.Compare(figure(x), figure(y)) })
		b.ReportMetric(figure(turns[len(turns)/2]), name)
	}
	for _, name := range order {
		middle(name+"-p50-ms", func(turn map[string]window) float64 { return turn[name].p50 })
		middle(name+"-p99-ms", func(turn map[string]window) float64 { return turn[name].p99 })
		middle(name+"-cpu-µs", func(turn map[string]window) float64 { return turn[name].cpu })
		middle(name+"-p99-ratio", func(turn map[string]window) float64 { return turn[name].p99 / turn["alone"].p99 })
	}
	b.ReportMetric(float64(disturbed), "disturbed")
}

// window has the figures of some seconds of questions: latencies in milliseconds, the gateway's CPU time for a
// question in microseconds, and the share of the processors that the host took away.
type window struct{ p50, p99, cpu, stolen float64 }

func questions(b *testing.B, g *harness.Gateway, ask func(user string)) (w window) {
	b.Helper()
	var all sync.WaitGroup
	took := make([]time.Duration, perWindow)
	stolen, whole := harness.Stolen(b)
	before, began := harness.CPU(b, g.Cmd.Process.Pid), time.Now()
	for n := range took {
		time.Sleep(time.Until(began.Add(time.Duration(n) * every)))
		all.Go(func() {
			began := time.Now()
			ask(reader(n % crowd))
			took[n] = time.Since(began)
		})
	}
	all.Wait()
	w.cpu = 1000 * ms(harness.CPU(b, g.Cmd.Process.Pid)-before) / perWindow
	stolenNow, wholeNow := harness.Stolen(b)
	w.stolen = (stolenNow - stolen).Seconds() / (wholeNow - whole).Seconds()
	slices.Sort(took)
	w.p50, w.p99 = ms(took[perWindow/2]), ms(took[perWindow*99/100])
	return w
}

// BenchmarkFollowers measures the memory of each of 200 pages that follow decisions: heap after a collection, and stacks.
func BenchmarkFollowers(b *testing.B) {
	g, _ := startMany(b, "--pprof")
	var heap, stacks float64
	for b.Loop() {
		before := held(b, g)
		end := follow(b, g, allFollowers)
		time.Sleep(3 * time.Second) // each has asked once, and waits for a decision
		after := held(b, g)
		end()
		heap, stacks = after.heap-before.heap, after.stacks-before.stacks
	}
	b.ReportMetric(heap/allFollowers/1024, "heap-KiB/follower")
	b.ReportMetric(stacks/allFollowers/1024, "stack-KiB/follower")
}

// memory is in bytes.
type memory struct{ heap, stacks float64 }

var heldLines = regexp.MustCompile(`(?m)^# (HeapAlloc|Stack) = (\d+)`)

// held returns the memory of the gateway after a collection.
func held(b *testing.B, g *harness.Gateway) (m memory) {
	b.Helper()
	r := harness.Call(b, http.MethodGet, g.HealthURL+"/debug/pprof/heap?gc=1&debug=1", "", "")
	for _, line := range heldLines.FindAllSubmatch(r.Raw, -1) {
		n, _ := strconv.ParseFloat(string(line[2]), 64) // only digits
		if string(line[1]) == "Stack" {
			m.stacks = n
		} else {
			m.heap = n
		}
	}
	if m.heap == 0 || m.stacks == 0 {
		b.Fatalf("%d %.300s", r.Status, r.Raw)
	}
	return m
}

// newAsker returns a function that asks E3 about a user, with a service's token. The answer is a denial.
func newAsker(b *testing.B, g *harness.Gateway) func(user string) {
	b.Helper()
	token := g.ServiceToken(b, resources.ServiceScopeCheck)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	return func(user string) {
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, g.URL+"/api/v1/authorize/accounts/"+whoAccount+"/users", http.NoBody)
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("X-User-ID", user)
		req.Header.Set("X-Account-ID", whoAccount)
		req.Header.Set("X-Action", "account:user:delete")
		resp, err := client.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		raw, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusOK {
			b.Fatalf("%d %s %v", resp.StatusCode, raw, err)
		}
	}
}

// follow opens pages of decisions. Each loads newer rows, as the script does, until end is called.
func follow(b *testing.B, g *harness.Gateway, pages int) (end func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	var all sync.WaitGroup
	admin := signIn(b, g, whoAdmin)
	client := &http.Client{Jar: admin.client.Jar, Transport: &http.Transport{MaxIdleConnsPerHost: pages}}
	for range pages {
		page := admin.get("/decisions")
		address, after := attribute(page, "data-follow"), attribute(page, "data-after")
		if address == "" || after == "" {
			b.Fatal("the page does not follow")
		}
		all.Go(func() {
			for ctx.Err() == nil {
				after = newer(ctx, b, client, admin.base+address, after)
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
		client.CloseIdleConnections()
	}
}

// poll asks a health endpoint from many clients, each about once a second, until end is called. What it costs questions
// is the cost of any request at that rate.
func poll(b *testing.B, g *harness.Gateway, clients int) (end func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	var all sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	for range clients {
		all.Go(func() {
			for ctx.Err() == nil {
				select {
				case <-time.After(time.Second/2 + rand.N(time.Second)):
					newer(ctx, b, client, g.HealthURL+"/healthz/live?", "")
				case <-ctx.Done():
				}
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
		client.CloseIdleConnections()
	}
}

// newer loads newer rows and returns the cursor after them.
func newer(ctx context.Context, b *testing.B, client *http.Client, address, after string) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"&after="+url.QueryEscape(after), http.NoBody)
	if err != nil {
		b.Error(err)
		return after
	}
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			b.Error(err)
		}
		return after
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err = errors.Join(err, resp.Body.Close()); ctx.Err() == nil && (err != nil || resp.StatusCode != http.StatusOK) {
		b.Errorf("%d %v", resp.StatusCode, err)
	}
	return cmp.Or(resp.Header.Get("X-After"), after)
}

// attribute returns the first value of an attribute on a page.
func attribute(page answer, name string) string {
	_, rest, _ := strings.Cut(page.Body, name+`="`)
	value, _, _ := strings.Cut(rest, `"`)
	return html.UnescapeString(value)
}

// report adds the median and the 95th percentile.
func report(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	b.ReportMetric(ms(took[len(took)/2]), "p50-ms")
	b.ReportMetric(ms(took[len(took)*95/100]), "p95-ms")
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// BenchmarkAssets gives the sizes of style sheet and script, as sent and with gzip.
func BenchmarkAssets(b *testing.B) {
	for name, pattern := range map[string]string{"style": "../../gateway/console/assets/style", "script": "../../gateway/console/assets"} {
		b.Run(name, func(b *testing.B) {
			var whole []byte
			for b.Loop() {
				whole = whole[:0]
				entries, err := os.ReadDir(pattern)
				if err != nil {
					b.Fatal(err)
				}
				for _, entry := range entries {
					if strings.HasSuffix(entry.Name(), ".css") || strings.HasSuffix(entry.Name(), ".js") {
						raw, err := os.ReadFile(pattern + "/" + entry.Name())
						if err != nil {
							b.Fatal(err)
						}
						whole = append(whole, raw...)
					}
				}
			}
			var out bytes.Buffer
			w := gzip.NewWriter(&out)
			_, _ = w.Write(whole)
			_ = w.Close()
			b.ReportMetric(float64(len(whole))/1024, "KiB")
			b.ReportMetric(float64(out.Len())/1024, "gzip-KiB")
		})
	}
}
