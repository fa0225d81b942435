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

// timeout bounds the ping of health.live and each check of health.ready (specification, "Limits").
const timeout = 2 * time.Second

// Names of the checks of health.ready.
const (
	CheckDatabase      = "database"
	CheckAccounts      = "accounts_service"
	CheckNotifications = "notification_service"
)

// Check says whether something works; nil is healthy. Its error is shown to whoever
// can reach the private listener.
type Check func(ctx context.Context) error

// Config is what the probes report and look at.
type Config struct {
	Service, Version string
	// Ping is the quick look of health.live.
	Ping Check
	// Checks are health.ready's, by name.
	Checks map[string]Check
	// Draining says that the process is about to stop: not ready, and alive.
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

type result struct {
	Status  string `json:"status"`
	Latency string `json:"latency"`
	Error   string `json:"error,omitempty"`
}

// Routes puts the probes on a mux, also under /api/v1.
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

// run gives a check its time; one that does not come back in time is unhealthy, and
// is not waited for.
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

// safely turns a panic into the check's failure: on its goroutine it would end the process.
func safely(ctx context.Context, check Check) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the check broke down: %v", p)
		}
	}()
	return check(ctx)
}

func (cfg Config) write(w http.ResponseWriter, code int, body report) {
	body.Service, body.Version, body.Timestamp = cfg.Service, cfg.Version, resources.At(cfg.Now())
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if code == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(code)
	// A probe that hung up has no use for the error.
	_ = json.NewEncoder(w).Encode(body)
}

// withoutURL keeps the address and its query, which may hold a credential, out of what is shown.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// Remote checks another service: a GET of the address that answers 2xx is healthy. A
// redirect is not followed: a sign-in page that answers 200 says nothing of the service.
func Remote(client *http.Client, address string) Check {
	here := *client
	here.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
		if err != nil {
			return withoutURL(err)
		}
		resp, err := here.Do(req)
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
