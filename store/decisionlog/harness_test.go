package decisionlog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/test/must"
)

// heads keep heads in memory.
type heads struct {
	mu    sync.Mutex
	byLog map[string]decisionlog.Head
}

func (h *heads) SaveHead(_ context.Context, head decisionlog.Head) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byLog == nil {
		h.byLog = map[string]decisionlog.Head{}
	}
	h.byLog[head.Log] = head
	return nil
}

func (h *heads) Heads(context.Context) ([]decisionlog.Head, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := []decisionlog.Head{}
	for _, head := range h.byLog {
		out = append(out, head)
	}
	return out, nil
}

// world is a folder of decisions with what keeps its head.
type world struct {
	dir     string
	heads   *heads
	secrets [][]byte
	change  func(*decisionlog.Options)
	said    *said
}

// said is what was logged.
type said struct {
	mu   sync.Mutex
	text string
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text += string(b)
	return len(b), nil
}

func (s *said) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return &world{dir: t.TempDir(), heads: &heads{}, secrets: [][]byte{make([]byte, 32)}, said: &said{}}
}

// input is a stand-in for policy's input: the question as JSON.
func input(j *resources.Judgement) ([]byte, error) {
	q := j.Question
	subject := map[string]any{"id": "", "here": []string{}}
	if q.Facts.Subject != nil {
		subject = map[string]any{"id": q.Facts.Subject.UserID, "status": q.Facts.Subject.UserStatus, "here": []string{q.Target.Rest}}
	}
	return json.Marshal(map[string]any{
		"action": map[string]any{"id": q.Action.ID}, "principal": map[string]any{"id": q.Principal.ID}, "subject": subject,
		"account": map[string]any{"id": q.AccountID}, "target": map[string]any{"project": q.Target.ProjectID, "rest": q.Target.Rest},
	})
}

// open opens the log, required unless change says otherwise.
func (w *world) open(t testing.TB) *decisionlog.Log {
	t.Helper()
	o := decisionlog.Options{
		Dir: w.dir, Required: true, Size: 1 << 30, Age: 24 * time.Hour, Secrets: w.secrets, Heads: w.heads, Input: input,
		Version: "test", Now: time.Now, Log: slog.New(slog.NewTextHandler(w.said, nil)),
	}
	if w.change != nil {
		w.change(&o)
	}
	l := must.Get(decisionlog.Open(t.Context(), o))(t)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// verify verifies the folder with the heads.
func (w *world) verify(t testing.TB) *decisionlog.Report {
	t.Helper()
	heads := must.Get(w.heads.Heads(t.Context()))(t)
	return must.Get(decisionlog.Verify(t.Context(), w.dir, decisionlog.VerifyOptions{Secrets: w.secrets, Heads: heads, Alone: true}))(t)
}

func (w *world) wantWhole(t testing.TB, records int64) {
	t.Helper()
	if r := w.verify(t); len(r.Findings) > 0 || records >= 0 && r.Records != records {
		t.Errorf("%d records, want %d: %v", r.Records, records, r.Findings)
	}
}

// ids are the ids of all records, the oldest first.
func (w *world) ids(t testing.TB) (out []string) {
	t.Helper()
	must.Do(t, decisionlog.Reader{Dir: w.dir}.Oldest(t.Context(), decisionlog.Filter{}, func(r *decisionlog.Record) error {
		out = append(out, r.Event(input).DecisionID)
		return nil
	}))
	return out
}

// file is the path of a file of the first log.
func (w *world) file(name string) string { return filepath.Join(w.dir, "01", name) }

func (w *world) read(t testing.TB, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(w.file(name)))(t)
}

// judgement is a verdict about one of seven users. A later one has a later time.
func judgement(t testing.TB, n int) *resources.Judgement {
	t.Helper()
	action := must.Get(resources.ParseAction("project:instance:read"))(t)
	allowed := n%3 == 0
	reason := "no role"
	if allowed {
		reason = "role r"
	}
	return &resources.Judgement{
		ID: fmt.Sprintf("id-%06d", n), Path: resources.PathDecision,
		Question: resources.Question{
			Principal: resources.Principal{Kind: resources.PrincipalService, ID: "service-a", Scopes: []string{"authz:check"}, Credential: resources.CredentialToken},
			Action:    action, AccountID: "acct-a-v1", Now: resources.At(time.Now()) + resources.Time(n),
			Facts:  resources.Facts{Revision: int64(n%7 + 1), Subject: subject(n % 7), ProjectState: resources.ProjectActive},
			Target: resources.Target{AccountID: "acct-a-v1", ProjectID: "proj-a-v1", Resource: fmt.Sprintf("instances/i-%d", n), Rest: fmt.Sprintf("instances/i-%d", n)},
			Route:  &resources.Route{Name: "authorization.check", Access: []string{"asks_self"}, Effect: "read"},
		},
		Decision: resources.Decision{Allowed: allowed, Code: "c", Reason: reason, PolicyRevision: "rev-1"},
	}
}

func subject(n int) *resources.Subject {
	return &resources.Subject{
		AccountID: "acct-a-v1", AccountExists: true, AccountStatus: "ACTIVE", UserID: fmt.Sprintf("user-%d-v1", n), UserExists: true,
		UserStatus: "ACTIVE", Member: true, Assignments: []resources.HeldRole{{RoleID: "r", RoleScope: "ACCOUNT", Status: "ACTIVE"}},
	}
}

// record records so many verdicts, one after the other.
func record(t testing.TB, l *decisionlog.Log, first, end int) {
	t.Helper()
	for n := first; n < end; n++ {
		must.Do(t, l.Record(t.Context(), judgement(t, n)))
	}
}

func readDir(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}
