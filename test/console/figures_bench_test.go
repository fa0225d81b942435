//go:build nightly

package console_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
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
	// many is how many people the account of the benchmarks has beside those who hold roles.
	many = 100_000
	// together is how many records one transaction makes.
	together = 5_000
	// followed is how many pages follow decisions beside the questions.
	followed = 20
)

// startMany starts a gateway with the account of startCrowd and many more people, without rates, and signs its admin in.
func startMany(b *testing.B) (*harness.Gateway, *browser) {
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
	g := harness.StartIn(b, dir, append([]string{"--log-level", "warn"}, console...)...)
	return g, signIn(b, g, whoAdmin)
}

// BenchmarkPages measures the time to the first byte of each page, with 100,000 people in the account.
func BenchmarkPages(b *testing.B) {
	_, admin := startMany(b)
	for _, page := range []struct{ name, path string }{
		{"overview", "/"},
		{"people", "/people"},
		{"find", "/people?q=user-many0999"},
		{"groups", "/groups"},
		{"roles", "/roles"},
		{"keys", "/people/" + whoAdmin + "/keys"},
		{"decisions", "/decisions"},
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
			report(b, took)
			b.ReportMetric(float64(size)/1024, "KiB")
		})
	}
}

// BenchmarkQuestions measures E3 beside pages that follow decisions, and without them, in turns.
func BenchmarkQuestions(b *testing.B) {
	g, _ := startMany(b)
	token := g.ServiceToken(b, resources.ServiceScopeCheck)
	took := map[bool][]time.Duration{}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}
	for b.Loop() {
		for _, beside := range []bool{false, true} {
			end := func() {}
			if beside {
				end = follow(b, g)
			}
			for n := range 2_000 {
				took[beside] = append(took[beside], askOne(b, client, g, token, reader(n%crowd)))
			}
			end()
		}
	}
	for beside, all := range took {
		slices.Sort(all)
		name := map[bool]string{false: "alone-p99-ms", true: "beside-p99-ms"}[beside]
		b.ReportMetric(ms(all[len(all)*99/100]), name)
	}
}

// askOne asks a question that is denied, and returns its time.
func askOne(b *testing.B, client *http.Client, g *harness.Gateway, token, user string) time.Duration {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, g.URL+"/api/v1/authorize/accounts/"+whoAccount+"/users", http.NoBody)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("X-User-ID", user)
	req.Header.Set("X-Account-ID", whoAccount)
	req.Header.Set("X-Action", "account:user:delete")
	began := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusOK {
		b.Fatalf("%d %v", resp.StatusCode, err)
	}
	return time.Since(began)
}

// follow opens pages of decisions, and has each ask for newer rows until end is called.
func follow(b *testing.B, g *harness.Gateway) (end func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	var all sync.WaitGroup
	for range followed {
		admin := signIn(b, g, whoAdmin)
		page := admin.get("/decisions")
		_, rest, _ := strings.Cut(page.Body, `data-after="`)
		after, _, _ := strings.Cut(rest, `"`)
		if after == "" {
			b.Fatal("the page has no cursor")
		}
		all.Go(func() {
			for ctx.Err() == nil {
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, admin.base+"/decisions/new?after="+after, http.NoBody)
				if err != nil {
					return
				}
				resp, err := admin.client.Do(req)
				if err != nil {
					return
				}
				if next := resp.Header.Get("X-After"); next != "" {
					after = next
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
	}
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
