package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies/engine"
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

func watch(t *testing.T, tree testTree, opts engine.Options) *watched {
	t.Helper()
	w := &watched{dir: t.TempDir(), reloaded: make(chan string, 16), refused: make(chan error, 16)}
	tree.write(t, w.dir)
	w.follow(t, w.dir, opts)
	return w
}

func (w *watched) follow(t *testing.T, dir string, opts engine.Options) {
	t.Helper()
	opts.Deadline = 10 * time.Second
	opts.Observer = engine.Observer{
		Reloaded: func(r string) { w.reloaded <- r },
		Refused:  func(err error) { w.refused <- err },
	}
	e, err := engine.New(t.Context(), engine.Dir(dir), opts)
	if err != nil {
		t.Fatal(err)
	}
	w.Engine = e
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Watch(ctx, dir) }()
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
	d, err := w.Decide(t.Context(), question(adminSubject(), "account:user:read"))
	if err != nil {
		t.Fatal(err)
	}
	return d.Reason
}

func smallWith(reason string) string {
	return strings.Replace(smallAuthz, `"granted"`, strconv.Quote(reason), 1)
}

// TestAChangeIsInForceWithinASecond guarantees that a written file decides soon. Other
// tests may hold up some of the edits.
func TestAChangeIsInForceWithinASecond(t *testing.T) {
	w := watch(t, smallTree(t), nothing)
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
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestABrokenEditKeepsTheLastGoodTree guarantees that a refusal is told once, kept
// for the health detail, and gone when the edit is mended or taken back.
func TestABrokenEditKeepsTheLastGoodTree(t *testing.T) {
	w := watch(t, smallTree(t), nothing)
	file, good := filepath.Join(w.dir, "authz", "authz.rego"), w.Revision()
	for name, broken := range map[string]string{
		"no Rego":        "package authz\n\nx := {",
		"allows nobody":  strings.Replace(smallAuthz, `default decision := {"allow": false`, `default decision := {"allow": true`, 1),
		"misspelt field": smallAuthz + "\nx if input.acton.id\n",
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
			write(t, file, smallAuthz)
			if next(t, w.reloaded) != good {
				t.Error("the first tree has another revision now")
			}
		})
	}
}

// TestAnEditTakenBackIsNoLongerRefused guarantees that the tree in force is not
// reported as old once the folder holds it again.
func TestAnEditTakenBackIsNoLongerRefused(t *testing.T) {
	e := newEngine(t, smallTree(t), nothing)
	if e.Reload(t.Context(), smallTree(t).with("authz/x.rego", "x")) == nil || e.LastRefusal() == nil {
		t.Fatal("a broken tree was taken")
	}
	if err := e.Reload(t.Context(), smallTree(t)); err != nil || e.LastRefusal() != nil {
		t.Errorf("got %v, last %v", err, e.LastRefusal())
	}
}

// TestSwappedFoldersAreFollowed guarantees that renames of an editor, new folders and
// the links of a ConfigMap are noticed.
func TestSwappedFoldersAreFollowed(t *testing.T) {
	t.Run("rename over the file", func(t *testing.T) {
		w := watch(t, smallTree(t), nothing)
		write(t, filepath.Join(w.dir, "authz", ".authz.rego.swp"), smallWith("renamed"))
		must(t, os.Rename(filepath.Join(w.dir, "authz", ".authz.rego.swp"), filepath.Join(w.dir, "authz", "authz.rego")))
		next(t, w.reloaded)
		if got := w.reason(t); got != "renamed" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("ConfigMap", func(t *testing.T) {
		dir := t.TempDir()
		smallTree(t).write(t, filepath.Join(dir, "..2026_1"))
		smallTree(t).with("authz/authz.rego", smallWith("second")).write(t, filepath.Join(dir, "..2026_2"))
		must(t, os.Symlink("..2026_1", filepath.Join(dir, "..data")))
		for _, folder := range []string{"authz", "grants", "routes", "schemas"} {
			must(t, os.Symlink(filepath.Join("..data", folder), filepath.Join(dir, folder)))
		}
		w := &watched{dir: dir, reloaded: make(chan string, 16), refused: make(chan error, 16)}
		w.follow(t, dir, nothing)
		must(t, os.Symlink("..2026_2", filepath.Join(dir, "..data_tmp")))
		must(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
		next(t, w.reloaded)
		if got := w.reason(t); got != "second" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("folder taken away", func(t *testing.T) {
		w := watch(t, smallTree(t), nothing)
		must(t, os.Rename(w.dir, w.dir+"-away"))
		if err := next(t, w.refused); !strings.Contains(err.Error(), "policy tree:") {
			t.Errorf("refused: %v", err)
		}
		if got := w.reason(t); got != "granted" || w.LastRefusal() == nil {
			t.Errorf("got %q, last %v", got, w.LastRefusal())
		}
	})
}

// TestATreeIsReadAgainOnlyWhereItMayHaveChanged guarantees that a poll leaves an old tree
// alone, and nothing that could be another one.
func TestATreeIsReadAgainOnlyWhereItMayHaveChanged(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	for name, c := range map[string]struct {
		edit func(t *testing.T, dir, file string)
		want bool
	}{
		"nothing":       {func(*testing.T, string, string) {}, true},
		"no tree's own": {func(t *testing.T, dir, _ string) { write(t, filepath.Join(dir, "README.md"), "x") }, true},
		"written with its time put back": {func(t *testing.T, _, file string) {
			write(t, file, "longer")
			must(t, os.Chtimes(file, old, old))
		}, false},
		"another time": {func(t *testing.T, _, file string) { must(t, os.Chtimes(file, old, old.Add(time.Nanosecond))) }, false},
		"another file of its size and time": {func(t *testing.T, dir, file string) {
			must(t, os.CopyFS(filepath.Join(dir, ".other"), os.DirFS(filepath.Dir(file))))
			must(t, os.Chtimes(filepath.Join(dir, ".other", "authz.rego"), old, old))
			must(t, os.Rename(filepath.Join(dir, ".other", "authz.rego"), file))
		}, false},
		"a new file": {func(t *testing.T, dir, _ string) {
			write(t, filepath.Join(dir, "new.rego"), "")
			must(t, os.Chtimes(filepath.Join(dir, "new.rego"), old, old))
		}, false},
		"a file less": {func(t *testing.T, _, file string) { must(t, os.Remove(file)) }, false},
		"no folder":   {func(t *testing.T, dir, _ string) { must(t, os.RemoveAll(dir)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			tree := smallTree(t)
			tree.write(t, dir)
			if unchanged, err := engine.Unchanged(engine.Dir(dir)); err != nil || unchanged() {
				t.Fatalf("what was just written is taken as settled: %v", err)
			}
			for name := range tree {
				must(t, os.Chtimes(filepath.Join(dir, name), old, old))
			}
			unchanged, err := engine.Unchanged(engine.Dir(dir))
			must(t, err)
			c.edit(t, dir, filepath.Join(dir, "authz", "authz.rego"))
			if got := unchanged(); got != c.want {
				t.Errorf("unchanged: %v", got)
			}
		})
	}
}

// TestALinkToAParentEnds guarantees that a loop of links is refused instead of followed for ever.
func TestALinkToAParentEnds(t *testing.T) {
	dir := t.TempDir()
	smallTree(t).write(t, dir)
	must(t, os.Symlink("..", filepath.Join(dir, "authz", "up")))
	if _, err := engine.Load(t.Context(), engine.Dir(dir), engine.LoadOptions{}); err == nil || !strings.Contains(err.Error(), "link to a parent") {
		t.Errorf("got %v", err)
	}
}

// TestACatalogueThatCantBeServedIsRefused guarantees that the gateway is asked
// about another catalogue before it is in force, and only then.
func TestACatalogueThatCantBeServedIsRefused(t *testing.T) {
	var asked [][]route
	answer := errors.New("widget.list has no handler")
	e := newEngine(t, smallTree(t), engine.Options{CheckRoutes: func(r []route) error {
		asked = append(asked, r)
		return answer
	}})
	must(t, e.Reload(t.Context(), smallTree(t).with("authz/authz.rego", smallWith("same routes"))))
	if len(asked) != 0 {
		t.Error("asked about the same catalogue")
	}
	other := smallTree(t).with("routes/data.json", strings.Replace(smallRoutes, "{", `{"widget.list": {"method": "GET", "path": "/x", "access": ["public"], "effect": "read", "area": "users", "upstream": "users"},`, 1))
	if err := e.Reload(t.Context(), other); !errors.Is(err, answer) || len(asked) != 1 || len(asked[0]) != 2 || len(e.Routes()) != 1 {
		t.Errorf("got %v, asked %v, in force %v", err, asked, e.Routes())
	}
	answer = nil
	must(t, e.Reload(t.Context(), other))
	if got := e.Routes(); len(got) != 2 || got[1].Name != "widget.list" {
		t.Errorf("in force %v", got)
	}
}

// TestTheCatalogueInForceCantBeChanged guarantees that Routes and Roles are copies.
func TestTheCatalogueInForceCantBeChanged(t *testing.T) {
	e := newEngine(t, smallTree(t), nothing)
	e.Routes()[0].Access[0], e.Roles()[0].Permissions[0] = "public", "*:*:*"
	e.Routes()[0].Method = "GET"
	if r := e.Routes()[0]; r.Access[0] != "asks_self" || r.Method != "POST" || e.Roles()[0].Permissions[0] != "account:*:*" {
		t.Errorf("got %v, %v", r, e.Roles())
	}
}

// TestManyAskWhileTreesChange guarantees that one subject can be shared by all
// questions, and that each answer is wholly of one tree.
func TestManyAskWhileTreesChange(t *testing.T) {
	trees := []testTree{smallTree(t), smallTree(t).with("authz/authz.rego", smallWith("other"))}
	e := newEngine(t, trees[0], engine.Options{Deadline: 10 * time.Second})
	want := map[string]string{e.Revision(): "granted"}
	must(t, e.Reload(t.Context(), trees[1]))
	want[e.Revision()] = "other"
	shared := adminSubject()
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
				d, err := e.Decide(context.Background(), question(shared, "account:user:read"))
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
		must(t, e.Reload(t.Context(), trees[i%2]))
	}
	close(stop)
	wg.Wait()
}
