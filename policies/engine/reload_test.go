package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/test/must"
)

var nothing engine.Options

func itoa(i int) string { return strconv.Itoa(i) }

// watched is an engine that follows a folder, and what it says about it.
type watched struct {
	*engine.Engine
	dir      string
	reloaded chan string
	refused  chan error
}

func watch(t *testing.T, tree policytest.Tree, opts engine.Options) *watched {
	t.Helper()
	w := &watched{dir: t.TempDir(), reloaded: make(chan string, 16), refused: make(chan error, 16)}
	tree.Write(t, w.dir)
	w.follow(t, w.dir, opts)
	return w
}

func (w *watched) follow(t *testing.T, dir string, opts engine.Options) {
	t.Helper()
	opts.Deadline = 10 * time.Second
	opts.Observer = engine.Observer{
		Reloaded: func(r string) { w.reloaded <- r },
		Refused:  func(_ *policies.Source, err error) { w.refused <- err },
	}
	e := must.Get(engine.New(t.Context(), policies.Dir(dir), proof.Load, opts))(t)
	w.Engine = e
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Watch(ctx, dir, nil) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Watch ended with %v", err)
		}
	})
}

func next[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("nothing happened")
		panic("unreachable")
	}
}

func (w *watched) reason(t *testing.T) string {
	t.Helper()
	d := must.Get(w.Decide(t.Context(), policytest.Question(policytest.AdminSubject(), "account:user:read")))(t)
	return d.Reason
}

func smallWith(reason string) string {
	return strings.Replace(policytest.SmallAuthz, `"granted"`, strconv.Quote(reason), 1)
}

// TestAChangeIsInForceWithinASecond guarantees that a written file decides soon. Other
// tests may hold up some of the edits.
func TestAChangeIsInForceWithinASecond(t *testing.T) {
	w := watch(t, policytest.Small(t), nothing)
	quickest := time.Hour
	for i := range 5 {
		start := time.Now()
		write(t, filepath.Join(w.dir, "authz", "authz.rego"), smallWith("edit "+itoa(i)))
		if r := next(t, w.reloaded); r != w.Revision() {
			t.Errorf("told of %s, in force is %s", r, w.Revision())
		}
		quickest = min(quickest, time.Since(start))
		if got := w.reason(t); got != "edit "+itoa(i) {
			t.Errorf("got %q", got)
		}
	}
	if quickest > time.Second && !raceEnabled {
		t.Errorf("the quickest took %v", quickest)
	}
}

func write(t *testing.T, name, content string) {
	t.Helper()
	must.Do(t, os.WriteFile(name, []byte(content), 0o600))
}

// TestABrokenEditKeepsTheLastGoodTree guarantees that the watcher logs a rejection once, and shows it in the health
// detail until the edit is mended or reverted.
func TestABrokenEditKeepsTheLastGoodTree(t *testing.T) {
	w := watch(t, policytest.Small(t), nothing)
	file, good := filepath.Join(w.dir, "authz", "authz.rego"), w.Revision()
	for name, broken := range map[string]string{
		"no Rego":        "package authz\n\nx := {",
		"allows nobody":  strings.Replace(policytest.SmallAuthz, `default decision := {"allow": false`, `default decision := {"allow": true`, 1),
		"misspelt field": policytest.SmallAuthz + "\nx if input.acton.id\n",
	} {
		t.Run(name, func(t *testing.T) {
			write(t, file, broken)
			err := next(t, w.refused)
			if !strings.Contains(err.Error(), "authz/authz.rego:") || w.LastRefusal() == nil || w.LastRefusal().Error() != err.Error() {
				t.Errorf("refused: %v; last: %v", err, w.LastRefusal())
			}
			if w.Revision() != good || w.reason(t) != "granted" {
				t.Errorf("in force: %s, %q", w.Revision(), w.reason(t))
			}
			write(t, file, smallWith("mended"))
			next(t, w.reloaded)
			if w.LastRefusal() != nil || w.reason(t) != "mended" {
				t.Errorf("last: %v, %q", w.LastRefusal(), w.reason(t))
			}
			write(t, file, policytest.SmallAuthz)
			if next(t, w.reloaded) != good {
				t.Error("the first tree has another revision now")
			}
		})
	}
}

// TestAnEditTakenBackIsNoLongerRefused guarantees that the tree in force is not
// reported as old once the folder holds it again.
func TestAnEditTakenBackIsNoLongerRefused(t *testing.T) {
	e := newEngine(t, policytest.Small(t), nothing)
	if e.Reload(t.Context(), policytest.Small(t).With("authz/x.rego", "x")) == nil || e.LastRefusal() == nil {
		t.Fatal("a broken tree was taken")
	}
	if err := e.Reload(t.Context(), policytest.Small(t)); err != nil || e.LastRefusal() != nil {
		t.Errorf("got %v, last %v", err, e.LastRefusal())
	}
}

// TestSwappedFoldersAreFollowed guarantees that renames of an editor, new folders and
// the links of a ConfigMap are noticed.
func TestSwappedFoldersAreFollowed(t *testing.T) {
	t.Run("rename over the file", func(t *testing.T) {
		w := watch(t, policytest.Small(t), nothing)
		write(t, filepath.Join(w.dir, "authz", ".authz.rego.swp"), smallWith("renamed"))
		must.Do(t, os.Rename(filepath.Join(w.dir, "authz", ".authz.rego.swp"), filepath.Join(w.dir, "authz", "authz.rego")))
		next(t, w.reloaded)
		if got := w.reason(t); got != "renamed" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("ConfigMap", func(t *testing.T) {
		dir := t.TempDir()
		policytest.Small(t).Write(t, filepath.Join(dir, "..2026_1"))
		policytest.Small(t).With("authz/authz.rego", smallWith("second")).Write(t, filepath.Join(dir, "..2026_2"))
		must.Do(t, os.Symlink("..2026_1", filepath.Join(dir, "..data")))
		for _, folder := range []string{"authz", "grants", "routes", "schemas"} {
			must.Do(t, os.Symlink(filepath.Join("..data", folder), filepath.Join(dir, folder)))
		}
		w := &watched{dir: dir, reloaded: make(chan string, 16), refused: make(chan error, 16)}
		w.follow(t, dir, nothing)
		must.Do(t, os.Symlink("..2026_2", filepath.Join(dir, "..data_tmp")))
		must.Do(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
		next(t, w.reloaded)
		if got := w.reason(t); got != "second" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("folder taken away", func(t *testing.T) {
		w := watch(t, policytest.Small(t), nothing)
		must.Do(t, os.Rename(w.dir, w.dir+"-away"))
		if err := next(t, w.refused); !strings.Contains(err.Error(), "policy tree:") {
			t.Errorf("refused: %v", err)
		}
		if got := w.reason(t); got != "granted" || w.LastRefusal() == nil {
			t.Errorf("got %q, last %v", got, w.LastRefusal())
		}
	})
}

// TestACatalogueThatCantBeServedIsRefused guarantees that the gateway is asked
// about another catalogue before it is in force, and only then.
func TestACatalogueThatCantBeServedIsRefused(t *testing.T) {
	var asked [][]route
	answer := errors.New("widget.list has no handler")
	e := newEngine(t, policytest.Small(t), engine.Options{CheckRoutes: func(r []route) error {
		asked = append(asked, r)
		return answer
	}})
	must.Do(t, e.Reload(t.Context(), policytest.Small(t).With("authz/authz.rego", smallWith("same routes"))))
	if len(asked) != 0 {
		t.Error("asked about the same catalogue")
	}
	other := policytest.Small(t).With("routes/data.json", strings.Replace(policytest.SmallRoutes, "{", `{"widget.list": {"method": "GET", "path": "/x", "access": ["public"], "effect": "read", "area": "users", "upstream": "users"},`, 1))
	if err := e.Reload(t.Context(), other); !errors.Is(err, answer) || len(asked) != 1 || len(asked[0]) != 2 || len(e.Routes()) != 1 {
		t.Errorf("got %v, asked %v, in force %v", err, asked, e.Routes())
	}
	answer = nil
	must.Do(t, e.Reload(t.Context(), other))
	if got := e.Routes(); len(got) != 2 || got[1].Name != "widget.list" {
		t.Errorf("in force %v", got)
	}
}

// TestAnotherMessageIsAnotherCatalogue guarantees that a reload sees a difference in `mcp` alone.
func TestAnotherMessageIsAnotherCatalogue(t *testing.T) {
	tree := func(tool string) policytest.Tree {
		row := `{"w.a": {"method": "POST", "path": "/mcp", "mcp": {"method": "tools/call", "name": "` + tool + `"}, "access": ["self"], "effect": "read", "upstream": "external"},`
		return policytest.Small(t).With("routes/data.json", strings.Replace(policytest.SmallRoutes, "{", row, 1))
	}
	asked := 0
	e := newEngine(t, tree("open"), engine.Options{CheckRoutes: func([]route) error { asked++; return nil }})
	must.Do(t, e.Reload(t.Context(), tree("shut")))
	if asked != 1 || e.Routes()[1].MCP.Name != "shut" {
		t.Errorf("asked %d times, %+v", asked, e.Routes()[1])
	}
}

// TestTheCatalogueInForceCantBeChanged guarantees that Routes and Roles are copies.
func TestTheCatalogueInForceCantBeChanged(t *testing.T) {
	e := newEngine(t, policytest.Small(t), nothing)
	e.Routes()[0].Access[0], e.Roles()[0].Permissions[0] = "public", "*:*:*"
	e.Routes()[0].Method = "GET"
	if r := e.Routes()[0]; r.Access[0] != "asks_self" || r.Method != "POST" || e.Roles()[0].Permissions[0] != "account:*:*" {
		t.Errorf("got %v, %v", r, e.Roles())
	}
}

// TestManyAskWhileTreesChange guarantees that concurrent questions can share one subject. Each answer is wholly of one
// tree.
func TestManyAskWhileTreesChange(t *testing.T) {
	trees := []policytest.Tree{policytest.Small(t), policytest.Small(t).With("authz/authz.rego", smallWith("other"))}
	e := newEngine(t, trees[0], engine.Options{Deadline: 10 * time.Second})
	want := map[string]string{e.Revision(): "granted"}
	must.Do(t, e.Reload(t.Context(), trees[1]))
	want[e.Revision()] = "other"
	shared := policytest.AdminSubject()
	full := fullQuestion()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				d, err := e.Decide(context.Background(), policytest.Question(shared, "account:user:read"))
				if err != nil || !d.Allowed || want[d.PolicyRevision] != d.Reason {
					t.Errorf("got %+v, %v", d, err)
					return
				}
				if _, err := e.Access(context.Background(), full); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 6 {
		must.Do(t, e.Reload(t.Context(), trees[i%2]))
	}
	close(stop)
	wg.Wait()
}

// TestOnlyRegularFilesAreRead guarantees that reading a tree never blocks on a file of another kind. The error names
// the file.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		put  func(t *testing.T, path string)
		says string
	}{
		"a named pipe": {func(t *testing.T, path string) { must.Do(t, syscall.Mkfifo(path, 0o600)) }, "is a named pipe; only regular files"},
		"a link to a pipe": {func(t *testing.T, path string) {
			must.Do(t, syscall.Mkfifo(path+"-", 0o600))
			must.Do(t, os.Symlink(path+"-", path))
		}, "x.rego- is a named pipe"},
		"a device":          {func(t *testing.T, path string) { must.Do(t, os.Symlink("/dev/full", path)) }, "/dev/full"},
		"a link to nothing": {func(t *testing.T, path string) { must.Do(t, os.Symlink("nothing", path)) }, "no such file"},
		"a link to itself":  {func(t *testing.T, path string) { must.Do(t, os.Symlink(path, path)) }, "circle"},
		"links in a circle": {func(t *testing.T, path string) {
			must.Do(t, os.Symlink(".x", path))
			must.Do(t, os.Symlink("x.rego", filepath.Join(filepath.Dir(path), ".x")))
		}, "circle"},
	} {
		t.Run(name, func(t *testing.T) {
			w := watch(t, policytest.Small(t), nothing)
			path := filepath.Join(w.dir, "authz", "x.rego")
			c.put(t, path)
			if err := next(t, w.refused); !strings.Contains(err.Error(), "authz/x.rego: ") || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q in it", err, c.says)
			}
			must.Do(t, os.Remove(path))
			write(t, filepath.Join(w.dir, "authz", "authz.rego"), smallWith("later"))
			next(t, w.reloaded)
			if got := w.reason(t); got != "later" {
				t.Errorf("a later tree is not in force: %q", got)
			}
		})
	}
}
