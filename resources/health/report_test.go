package health_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources/health"
)

type report struct {
	Status, Service, Version, Timestamp string
	Checks                              map[string]struct{ Status, Latency, Error string }
}

func fine(context.Context) error { return nil }

// probe asks one path of the probes with these checks.
func probe(t *testing.T, path string, cfg health.Config) (int, report, *httptest.ResponseRecorder) {
	t.Helper()
	cfg.Service, cfg.Version = "gate", "1.2"
	if cfg.Ping == nil {
		cfg.Ping = fine
	}
	if cfg.Draining == nil {
		cfg.Draining = func() bool { return false }
	}
	if cfg.Now == nil {
		var ticks atomic.Int64 // the checks look at the clock at once
		cfg.Now = func() time.Time {
			return time.UnixMilli(1_790_000_000_000).Add(time.Duration(ticks.Add(1)) * 1234 * time.Microsecond)
		}
	}
	mux := http.NewServeMux()
	health.Routes(mux, cfg)
	rec := httptest.NewRecorder()
	mux.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
	var r report
	if err := json.Unmarshal(rec.Body.Bytes(), &r); err != nil {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	return rec.Code, r, rec
}

func TestLivenessIsThePing(t *testing.T) {
	for _, path := range []string{"/healthz/live", "/api/v1/healthz/live"} {
		code, r, rec := probe(t, path, health.Config{Draining: func() bool { return true }})
		if code != 200 || r.Status != "live" || strings.Contains(rec.Body.String(), "checks") || r.Timestamp != "2026-09-21T14:13:20.003Z" || r.Service != "gate" || r.Version != "1.2" {
			t.Errorf("%d %s", code, rec.Body)
		}
		if rec.Header().Get("Cache-Control") != "no-store" || rec.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%v", rec.Header())
		}
	}
	code, r, rec := probe(t, "/healthz/live", health.Config{Ping: func(context.Context) error { return errors.New("secret path") }})
	if code != 503 || rec.Header().Get("Retry-After") != "1" || r.Status != "unhealthy" || strings.Contains(rec.Body.String(), "secret") {
		t.Errorf("%d %s", code, rec.Body)
	}
}

func TestReadinessNamesWhatFails(t *testing.T) {
	code, r, rec := probe(t, "/healthz/ready", health.Config{Checks: map[string]health.Check{
		"database": fine, "accounts_service": func(context.Context) error { return errors.New("it is down") }, "notification_service": func(context.Context) error { panic("broken") },
	}})
	if code != 503 || r.Status != "not_ready" || len(r.Checks) != 3 || r.Checks["database"].Status != "healthy" || r.Checks["database"].Error != "" {
		t.Errorf("%d %s", code, rec.Body)
	}
	if c := r.Checks["accounts_service"]; c.Status != "unhealthy" || c.Error != "it is down" || !strings.HasSuffix(c.Latency, "ms") {
		t.Errorf("%+v", c)
	}
	if c := r.Checks["notification_service"]; c.Status != "unhealthy" || !strings.Contains(c.Error, "broken") {
		t.Errorf("a check that panics: %+v", c)
	}
	code, r, _ = probe(t, "/api/v1/healthz/ready", health.Config{Checks: map[string]health.Check{"database": fine}})
	if code != 200 || r.Status != "ready" || r.Checks["database"].Latency != "1.2ms" {
		t.Errorf("%d %+v", code, r)
	}
	code, r, _ = probe(t, "/healthz/ready", health.Config{Checks: map[string]health.Check{"database": fine}, Draining: func() bool { return true }})
	if code != 503 || r.Status != "not_ready" || r.Checks["database"].Status != "healthy" {
		t.Errorf("draining: %d %+v", code, r)
	}
}

// TestChecksRunAtOnceAndHaveTwoSeconds runs checks that wait for each other, and one beyond its deadline.
func TestChecksRunAtOnceAndHaveTwoSeconds(t *testing.T) {
	began, stuck := make(chan struct{}, 3), make(chan struct{})
	defer close(stuck)
	together := func(ctx context.Context) error {
		began <- struct{}{}
		for len(began) < cap(began) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if end, ok := ctx.Deadline(); !ok || time.Until(end) > 2*time.Second {
			return errors.New("no end within two seconds")
		}
		return nil
	}
	started := time.Now()
	code, r, rec := probe(t, "/healthz/ready", health.Config{Now: time.Now, Checks: map[string]health.Check{
		"a": together, "b": together, "stuck": func(context.Context) error { began <- struct{}{}; <-stuck; return nil },
	}})
	if took := time.Since(started); took > 4*time.Second || code != 503 {
		t.Errorf("%s: %d %s", took, code, rec.Body)
	}
	if r.Checks["a"].Status != "healthy" || r.Checks["b"].Status != "healthy" || r.Checks["stuck"].Error != "no answer within 2s" {
		t.Errorf("%s", rec.Body)
	}
}

// TestRemoteIsHealthyOn2xx checks that other answers, redirects among them, are unhealthy.
func TestRemoteIsHealthyOn2xx(t *testing.T) {
	for status, healthy := range map[int]bool{200: true, 204: true, 302: false, 404: false, 500: false} {
		var asked []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.Method+" "+r.URL.Path)
			w.Header().Set("Location", "/fine")
			if r.URL.Path != "/fine" {
				w.WriteHeader(status)
			}
		}))
		err := health.Remote(server.Client(), server.URL+"/healthz")(t.Context())
		server.Close()
		if (err == nil) != healthy || !slices.Equal(asked, []string{"GET /healthz"}) {
			t.Errorf("%d: %v, asked %v", status, err, asked)
		}
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	if err := health.Remote(http.DefaultClient, gone.URL)(t.Context()); err == nil {
		t.Error("a server that is gone is healthy")
	}
	if err := health.Remote(http.DefaultClient, "http://\x00")(t.Context()); err == nil {
		t.Error("no address is healthy")
	}
}

// TestAnAddressIsNotShown guarantees that no error shows the query of an address, since it may hold a credential.
func TestAnAddressIsNotShown(t *testing.T) {
	for _, address := range []string{"http://127.0.0.1:1/?token=not-for-you", "http://127.0.0.1:not-for-you/"} {
		_, r, rec := probe(t, "/healthz/ready", health.Config{Checks: map[string]health.Check{"x": health.Remote(http.DefaultClient, address)}})
		if r.Checks["x"].Error == "" || strings.Contains(rec.Body.String(), "token=") || strings.Contains(rec.Body.String(), "127.0.0.1:not") {
			t.Errorf("%s", rec.Body)
		}
	}
}
