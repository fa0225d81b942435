package health

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// timeout bounds each check (specification, "Limits").
const timeout = 2 * time.Second

// Names of the checks of health.ready.
const (
	CheckDatabase      = "database"
	CheckAccounts      = "accounts_service"
	CheckNotifications = "notification_service"
)

// Check is a check of one part of the system; nil is healthy. Clients of the private listener see
// the error.
type Check func(ctx context.Context) error

// Config holds what the probes check and report.
type Config struct {
	Service, Version string
	// Ping is the check of health.live.
	Ping Check
	// Checks holds the checks of health.ready by name.
	Checks map[string]Check
	// Draining says whether the process is about to stop. Then it is live and not ready.
	Draining func() bool
	Now      func() time.Time
}

// report is the body of both probes.
type report struct {
	Status    string            `json:"status"`
	Service   string            `json:"service"`
	Version   string            `json:"version"`
	Timestamp resources.Time    `json:"timestamp"`
	Checks    map[string]result `json:"checks,omitempty"`
}

// result is the outcome of one check.
type result struct {
	Status  string `json:"status"`
	Latency string `json:"latency"`
	Error   string `json:"error,omitempty"`
}

// Routes registers the probes on a mux, at the root and under /api/v1.
func Routes(mux *http.ServeMux, cfg Config) {
	for _, prefix := range []string{"", "/api/v1"} {
		mux.HandleFunc("GET "+prefix+"/healthz/live", cfg.live)
		mux.HandleFunc("GET "+prefix+"/healthz/ready", cfg.ready)
	}
}

// live answers health.live (E20).
func (cfg Config) live(w http.ResponseWriter, r *http.Request) {
	status, code := "live", http.StatusOK
	if cfg.run(r.Context(), cfg.Ping).Status != "healthy" {
		status, code = "unhealthy", http.StatusServiceUnavailable
	}
	cfg.write(w, code, report{Status: status})
}

// ready answers health.ready (E21).
func (cfg Config) ready(w http.ResponseWriter, r *http.Request) {
	var (
		mu     sync.Mutex
		wait   sync.WaitGroup
		checks = map[string]result{}
	)
	for name, check := range cfg.Checks {
		wait.Go(func() {
			one := cfg.run(r.Context(), check)
			mu.Lock()
			defer mu.Unlock()
			checks[name] = one
		})
	}
	wait.Wait()
	status, code := "ready", http.StatusOK
	for _, one := range checks {
		if one.Status != "healthy" {
			status, code = "not_ready", http.StatusServiceUnavailable
		}
	}
	if cfg.Draining() {
		status, code = "not_ready", http.StatusServiceUnavailable
	}
	cfg.write(w, code, report{Status: status, Checks: checks})
}

// run runs a check until its deadline. A check that misses the deadline is unhealthy, and run does not
// wait for it.
func (cfg Config) run(ctx context.Context, check Check) result {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	started := cfg.Now()
	done := make(chan error, 1)
	go func() { done <- safely(ctx, check) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = fmt.Errorf("no answer within %s", timeout)
	}
	took := cfg.Now().Sub(started)
	out := result{Status: "healthy", Latency: fmt.Sprintf("%.1fms", float64(took.Microseconds())/1000)}
	if err != nil {
		out.Status, out.Error = "unhealthy", err.Error()
	}
	return out
}

// safely runs a check and returns a panic as an error. A panic on a goroutine would end the process.
func safely(ctx context.Context, check Check) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the check broke down: %v", p)
		}
	}()
	return check(ctx)
}

// write sends the report of a probe.
func (cfg Config) write(w http.ResponseWriter, code int, body report) {
	body.Service, body.Version, body.Timestamp = cfg.Service, cfg.Version, resources.At(cfg.Now())
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // it fails when the client is gone
}

// withoutURL returns the cause of a url.Error, since its own text holds the query, maybe with a credential.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// Remote returns the check of another service. The service is healthy when it answers a GET of the
// address with 2xx. The check does not follow redirects, which may lead to a sign-in page.
func Remote(client *http.Client, address string) Check {
	direct := *client
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
		if err != nil {
			return withoutURL(err)
		}
		resp, err := direct.Do(req)
		if err != nil {
			return fmt.Errorf("it does not answer: %w", withoutURL(err))
		}
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode < 200 || resp.StatusCode > 299 {
			return fmt.Errorf("it answers %d", resp.StatusCode)
		}
		return nil
	}
}
