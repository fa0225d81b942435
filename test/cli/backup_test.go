package cli_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
)

// startEmbedded starts a gateway on the embedded store, whichever the others are on, with an account in it.
func startEmbedded(t *testing.T) *harness.Scene {
	t.Helper()
	dir := t.TempDir()
	harness.MasterKeyOf(t, dir)
	return harness.NewScene(t, harness.Launch(t, dir))
}

// names is a list that several goroutines add to.
type names struct {
	mu   sync.Mutex
	list []string
}

func (n *names) add(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, name)
}

func (n *names) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.list)
}

// keep copies the master key from one data folder to another one.
func keep(t *testing.T, source, target string) {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(source, "master.key"))
	if err == nil {
		err = os.MkdirAll(target, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(target, "master.key"), key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// wantExit holds a command to an exit code and texts on standard output and error.
func wantExit(t *testing.T, o harness.Outcome, code int, says ...string) {
	t.Helper()
	if o.Code != code {
		t.Errorf("exit %d, want %d: %s%s", o.Code, code, o.Stdout, o.Stderr)
	}
	for _, text := range says {
		if !strings.Contains(o.Stdout+o.Stderr, text) {
			t.Errorf("%q does not say %q", o.Stdout+o.Stderr, text)
		}
	}
}

// TestBackupBesideChanges guarantees that a backup during changes is good, and has every change answered before it
// began. A gateway on the restored folder accepts tokens and assignments from before it.
func TestBackupBesideChanges(t *testing.T) {
	t.Parallel()
	scene := startEmbedded(t)
	var answered names
	stop := make(chan struct{})
	var changing sync.WaitGroup
	for range 8 {
		changing.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				name := rand.Text()
				if r := scene.Do(t, "POST", "/groups", `{"name":"`+name+`"}`); r.Status != http.StatusCreated {
					t.Errorf("%d %s", r.Status, r.Raw)
					return
				}
				answered.add(name)
			}
		})
	}
	harness.Soon(t, "changes are made", func() bool { return len(answered.all()) > 50 })
	file, began := filepath.Join(t.TempDir(), "a.backup"), answered.all()
	started := time.Now()
	made := harness.Command(t, nil, "store", "backup", "--data-dir", scene.DataDir, file)
	took, during := time.Since(started), len(answered.all())-len(began)
	close(stop)
	changing.Wait()
	t.Logf("%d changes were answered before it began, %d while it ran, %.0f a second", len(began), during, float64(during)/took.Seconds())
	wantExit(t, made, 0, file, "sha256", "the master key is not in it")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	wantExit(t, harness.Command(t, nil, "store", "verify", file), 0, "good:")

	dir := filepath.Join(t.TempDir(), "restored")
	keep(t, scene.DataDir, dir)
	wantExit(t, harness.Command(t, nil, "store", "restore", "--data-dir", dir, file), 0, "restored")
	g := harness.Launch(t, dir)
	restored := map[string]bool{}
	for page := ""; ; {
		r := harness.Call(t, "GET", g.URL+"/api/v1/accounts/"+scene.Account+"/groups?page_size=100"+page, scene.AdminToken, "")
		if r.Status != 200 {
			t.Fatalf("%d %s", r.Status, r.Raw)
		}
		for i := range r.Body["groups"].([]any) {
			restored[harness.At(r.Body, "groups", i, "name").(string)] = true
		}
		token, _ := r.Body["next_page_token"].(string)
		if token == "" {
			break
		}
		page = "&page_token=" + token
	}
	for _, name := range began {
		if !restored[name] {
			t.Errorf("%s was answered before the backup began, and is not in it", name)
		}
	}
	r := harness.Call(t, "GET", g.URL+"/api/v1/accounts/"+scene.Account+"/roles/account_admin/assignments", scene.AdminToken, "")
	if r.Status != 200 || !bytes.Contains(r.Raw, []byte(scene.Admin)) {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
}

// TestBackupRefusals: nothing is overwritten, and a failure leaves nothing behind.
func TestBackupRefusals(t *testing.T) {
	t.Parallel()
	dir, target := t.TempDir(), t.TempDir()
	taken := filepath.Join(target, "taken")
	must.Do(t, os.WriteFile(taken, []byte("mine"), 0o600))
	seedStore(t, dir)
	harness.WantOneLine(t, harness.Command(t, nil, "store", "backup", "--data-dir", dir, taken), taken, "already")
	harness.WantOneLine(t, harness.Command(t, nil, "store", "backup", "--data-dir", dir), "FILE")
	harness.WantOneLine(t, harness.Command(t, nil, "store", "backup", "--data-dir", target, filepath.Join(target, "a")), "no store")
	harness.WantOneLine(t, harness.Command(t, nil, "store", "backup", "--data-dir", dir, filepath.Join(target, "no", "a")), "no such file")
	harness.WantOneLine(t, harness.Command(t, nil, "store", "backup", "--data-dir", dir, filepath.Join(taken, "a")), "not a directory")
	harness.WantOneLine(t, harness.Command(t, nil, "store", "backup", "--data-dir", dir, filepath.Join(target, strings.Repeat("a", 256))), "name too long")
	harness.WantOneLine(t, harness.Command(t, nil, "store", "backup", "--mongo-url", "mongodb://h/x", filepath.Join(target, "a")), "mongodump", "store verify")
	if entries, err := os.ReadDir(target); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v %v", entries, err)
	}
	if raw, err := os.ReadFile(taken); err != nil || string(raw) != "mine" {
		t.Errorf("%q %v", raw, err)
	}
}

// seedStore makes a store with one account in a data folder.
func seedStore(t *testing.T, dir string) {
	t.Helper()
	wantExit(t, harness.Command(t, nil, "bootstrap", "--data-dir", dir, "--account", "acct-kept-v1", "--name", "Kept",
		"--admin-email", "ada@kept.example", "--user", "user-ada-v1", "--project", "proj-kept-v1"), 0)
}

func backedUp(t *testing.T) (dir, file string) {
	t.Helper()
	dir, file = t.TempDir(), filepath.Join(t.TempDir(), "a.backup")
	seedStore(t, dir)
	wantExit(t, harness.Command(t, nil, "store", "backup", "--data-dir", dir, file), 0)
	return dir, file
}

// TestDamagedBackupIsRefused: a cut, changed or foreign file is damage, named, and nothing is restored of it.
func TestDamagedBackupIsRefused(t *testing.T) {
	t.Parallel()
	_, file := backedUp(t)
	good := must.Get(os.ReadFile(file))(t)
	wantExit(t, harness.Command(t, nil, "store", "verify", file), 0, "good:", "1 accounts")
	changed := func(index int) []byte {
		out := bytes.Clone(good)
		out[index] ^= 1
		return out
	}
	for name, raw := range map[string][]byte{
		"empty": {}, "cut": good[:len(good)/2], "cut in the manifest": good[:700], "another file": bytes.Repeat([]byte("x"), 4096),
		"a changed page": changed(len(good) - 8192), "a changed manifest": changed(600),
	} {
		bad := filepath.Join(t.TempDir(), "bad")
		must.Do(t, os.WriteFile(bad, raw, 0o600))
		target := filepath.Join(t.TempDir(), "new")
		if o := harness.Command(t, nil, "store", "verify", bad); o.Code != 1 || !strings.Contains(o.Stderr, "damaged") {
			t.Errorf("%s: verify: %+v", name, o)
		}
		if o := harness.Command(t, nil, "store", "restore", "--data-dir", target, bad); o.Code != 2 || sqlite.Exists(target) {
			t.Errorf("%s: restore: %+v", name, o)
		}
		if entries, err := os.ReadDir(target); err == nil && len(entries) > 0 {
			t.Errorf("%s: left behind: %v", name, entries)
		}
	}
	wantExit(t, harness.Command(t, nil, "store", "verify", filepath.Join(t.TempDir(), "none")), 2, "no such file")
}

// TestRestoreTakesTheFolderOfNobody: a folder with anything but the master key is left as it is.
func TestRestoreTakesTheFolderOfNobody(t *testing.T) {
	t.Parallel()
	dir, file := backedUp(t)
	harness.WantOneLine(t, harness.Command(t, nil, "store", "restore", "--data-dir", dir, file), dir, "portcullis.db", "empty")
	wantExit(t, harness.Command(t, nil, "store", "verify", "--data-dir", dir), 0, "good:")
	other := filepath.Join(t.TempDir(), "other")
	wantExit(t, harness.Command(t, nil, "store", "restore", "--data-dir", other, file), 0)
	harness.WantOneLine(t, harness.Command(t, nil, harness.Ephemeral(other)...), "master.key is missing")
}

// TestRestoreHoldsTheMasterKeyOfTheFolder against the restored store: what is there is not asked for, and another one is
// named before a start refuses it.
func TestRestoreHoldsTheMasterKeyOfTheFolder(t *testing.T) {
	t.Parallel()
	dir, file := backedUp(t)
	folder := func() string { return filepath.Join(t.TempDir(), "restored") }
	none, same, other := folder(), folder(), folder()
	keep(t, dir, same)
	harness.MasterKeyOf(t, other)
	restored := func(dir string) harness.Outcome {
		return harness.Command(t, nil, "store", "restore", "--data-dir", dir, file)
	}
	wantExit(t, restored(none), 0, "restored; bring the master key of that time, and start")
	if o := restored(same); o.Code != 0 || o.Stdout != "restored; start: the folder has the master key of the store\n" {
		t.Errorf("%+v", o)
	}
	wantExit(t, restored(other), 0, "restored; bring the master key of that time in the place of the one in the folder", "another master key")
	harness.WantOneLine(t, harness.Command(t, nil, harness.Ephemeral(other)...), "another master key")
}

// leave makes a folder as a command that is killed leaves it.
func leave(t *testing.T, dir string) string {
	t.Helper()
	work := filepath.Join(dir, ".portcullis-store-1")
	must.Do(t, os.Mkdir(work, 0o700))
	harness.WriteFile(t, filepath.Join(work, "lock"), "")
	harness.WriteFile(t, filepath.Join(work, "portcullis.db.1"), "a part of it")
	return work
}

// TestNextCommandRemovesWhatAKilledOneLeft, and names it; a restore that was killed keeps no other one away.
func TestNextCommandRemovesWhatAKilledOneLeft(t *testing.T) { // not in parallel: it sets TMPDIR
	dir, file := backedUp(t)
	key, next := filepath.Join(dir, "master.key"), t.TempDir()
	harness.WriteFile(t, filepath.Join(next, "portcullis.lock"), "")
	t.Setenv("TMPDIR", t.TempDir())
	for _, args := range [][]string{
		{"store", "backup", "--data-dir", dir, filepath.Join(filepath.Dir(file), "b.backup")},
		{"store", "restore", "--data-dir", next, file},
		{"store", "verify", file},
		{"store", "verify", "--data-dir", dir},
		{"keys", "status", "--data-dir", dir},
		{"keys", "rotate", "--data-dir", dir},
		{"keys", "rotate", "--mongo-url", "mongodb://h/d", "--master-key-file", key},
	} {
		work := leave(t, map[string]string{"backup": filepath.Dir(file), "restore": next, "verify": os.TempDir(), "status": os.TempDir(), "rotate": dir}[args[1]])
		o := harness.Command(t, nil, args...)
		if o.Code != 0 || o.Stderr != "removed "+work+", which a killed command had left\n" {
			t.Errorf("%q: %+v", args, o)
		}
		if _, err := os.Stat(work); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q left it: %v", args, err)
		}
	}
}

// TestVerifyFindsWhatIsNoStore: a file of others is damage, not a command that could not look, and so is what stands behind
// the database of a backup.
func TestVerifyFindsWhatIsNoStore(t *testing.T) {
	t.Parallel()
	dir, file := backedUp(t)
	empty := t.TempDir()
	harness.WriteFile(t, filepath.Join(empty, "portcullis.db"), "")
	wantExit(t, harness.Command(t, nil, "store", "verify", "--data-dir", empty), 1, "damaged", "portcullis.db")
	if out, err := exec.CommandContext(t.Context(), "tar", "-rf", file, "-C", dir, "master.key").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	wantExit(t, harness.Command(t, nil, "store", "verify", file), 1, "damaged", "behind its database")
	next := filepath.Join(t.TempDir(), "next")
	wantExit(t, harness.Command(t, nil, "store", "restore", "--data-dir", next, file), 2, "behind its database")
	wantExit(t, harness.Command(t, nil, "store", "verify", dir), 2, "is a folder")
}

// TestUnfinishedCopyIsServedByNobody, and the refusal says how to finish it.
func TestUnfinishedCopyIsServedByNobody(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), records.NewCollections()
	harness.SeedRecords(t, dir, c, func(ctx context.Context, tx store.Tx) error {
		return c.Copies.Insert(ctx, tx, records.Copy{ID: records.CopyID, Source: "folder /elsewhere"})
	})
	args := append(harness.Ephemeral(dir), harness.StoreArgs(t, dir, nil)...)
	harness.WantOneLine(t, harness.Command(t, nil, args...), "unfinished copy", "portcullis store copy", "portcullis store restore")
}

// TestVerifyFindsDamagedPages guarantees it for a folder without a server. For a folder without a store it reports that
// it could not check.
func TestVerifyFindsDamagedPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seedStore(t, dir)
	path := filepath.Join(dir, "portcullis.db")
	raw := must.Get(os.ReadFile(path))(t)
	size := int(binary.BigEndian.Uint16(raw[16:]))
	for index := 2 * size; index < len(raw); index += 3 * size { // every third page but the first
		copy(raw[index:index+size/2], bytes.Repeat([]byte{0xff}, size/2))
	}
	must.Do(t, os.WriteFile(path, raw, 0o600))
	wantExit(t, harness.Command(t, nil, "store", "verify", "--data-dir", dir), 1, "damaged")
	wantExit(t, harness.Command(t, nil, "store", "backup", "--data-dir", dir, filepath.Join(t.TempDir(), "a")), 2, "damaged")
	wantExit(t, harness.Command(t, nil, "store", "verify", "--data-dir", t.TempDir()), 2, "no store")
}

// TestCopyToAnotherFolder: tokens of before are taken, a served folder and one that is not empty are refused.
func TestCopyToAnotherFolder(t *testing.T) {
	t.Parallel()
	source, target := t.TempDir(), filepath.Join(t.TempDir(), "to")
	seedStore(t, source)
	copied := harness.Command(t, nil, "store", "copy", "--from", source, "--to", target, "--with-master-key")
	wantExit(t, copied, 0, "copied and compared:", "users: 1 records")
	g := harness.Launch(t, target)
	token := harness.Command(t, nil, "token", "--data-dir", source, "--user", "user-ada-v1", "--ttl", time.Minute.String())
	r := harness.Call(t, "GET", g.URL+"/api/v1/accounts/acct-kept-v1/projects", strings.TrimSpace(token.Stdout), "")
	if r.Status != 200 || harness.At(r.Body, "projects", 0, "id") != "proj-kept-v1" {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	harness.WantOneLine(t, harness.Command(t, nil, "store", "copy", "--from", target, "--to", t.TempDir()), "--from", "in use")
	harness.WantOneLine(t, harness.Command(t, nil, "store", "copy", "--from", source, "--to", target), "--to", "in use")
	other := t.TempDir()
	seedStore(t, other)
	wantExit(t, harness.Command(t, nil, "store", "copy", "--from", source, "--to", other), 2, "not empty")
	for _, args := range [][]string{
		{},
		{"--from", source},
		{"--from", source, "--to", source},
		{"--from", filepath.Join(source, "no"), "--to", target},
		{"--from", t.TempDir(), "--to", target},
		{"--from", "mongodb://h/x", "--to", target, "--with-master-key"},
	} {
		harness.WantOneLine(t, harness.Command(t, nil, append([]string{"store", "copy"}, args...)...), "--")
	}
}

// TestACopyWithItsKeyIsWholeOrNotBegun guarantees that the command looks for the master keys before it copies a record:
// the next copy into the folder would be refused.
func TestACopyWithItsKeyIsWholeOrNotBegun(t *testing.T) {
	t.Parallel()
	source, target := t.TempDir(), t.TempDir()
	seedStore(t, source)
	copied := func() harness.Outcome {
		return harness.Command(t, nil, "store", "copy", "--from", source, "--to", target, "--with-master-key")
	}
	key, kept := filepath.Join(source, "master.key"), filepath.Join(source, "kept.key")
	must.Do(t, os.Rename(key, kept))
	harness.WantOneLine(t, copied(), "--from", "there is no "+key)
	must.Do(t, os.Rename(kept, key))
	harness.WriteFile(t, filepath.Join(target, "master.key"), "")
	harness.WantOneLine(t, copied(), "--to", "has a master key")
	must.Do(t, os.Remove(filepath.Join(target, "master.key")))
	must.Do(t, os.Symlink("nowhere", filepath.Join(target, "master.key"))) // no key can be written there
	harness.WantOneLine(t, copied(), "--to", "master key")
	must.Do(t, os.Remove(filepath.Join(target, "master.key")))
	wantExit(t, copied(), 0, "copied and compared:")
}

// TestARepeatCompletesACopyWithItsKey guarantees that the same command completes a copy after a kill between the master key
// and the last record.
func TestARepeatCompletesACopyWithItsKey(t *testing.T) {
	t.Parallel()
	source, target, c := t.TempDir(), t.TempDir(), records.NewCollections()
	seedStore(t, source)
	harness.SeedRecords(t, target, c, func(ctx context.Context, tx store.Tx) error {
		return c.Copies.Insert(ctx, tx, records.Copy{ID: records.CopyID, Source: "folder " + source})
	})
	harness.WriteFile(t, filepath.Join(target, "master.key"), string(must.Get(os.ReadFile(filepath.Join(source, "master.key")))(t)))
	wantExit(t, harness.Command(t, nil, "store", "copy", "--from", source, "--to", target, "--with-master-key"), 0, "copied and compared:", "users: 1 records")
	harness.Launch(t, target)
}
