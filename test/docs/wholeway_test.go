package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// wholeWay returns the commands of docs/author/first-rule.md, and the files that it names.
func wholeWay(t *testing.T) (commands []typed, files map[string]string) {
	t.Helper()
	for _, block := range blocks(read(t, "docs/author/first-rule.md")) {
		commands = append(commands, block.commands(t)...)
	}
	files = map[string]string{}
	rules := regexp.MustCompile("`(authz/project_delete[^`]*\\.rego)`[^\n]*\n\n```rego\n((?s:.*?))```\n")
	for _, file := range rules.FindAllStringSubmatch(read(t, "docs/author/rules.md"), -1) {
		files[file[1]] = file[2]
	}
	guard := regexp.MustCompile("```rego\n(package guards\n(?s:.*?))```\n").FindStringSubmatch(read(t, "docs/author/guards.md"))
	if len(commands) < 10 || len(files) != 2 || guard == nil {
		t.Fatalf("%d commands, %d files", len(commands), len(files))
	}
	files["guards/projects.rego"] = guard[1]
	return commands, files
}

// TestTheWholeWay is the page, typed: each command prints what stands there. The page is about a data folder.
func TestTheWholeWay(t *testing.T) {
	t.Parallel()
	tier.Check(t)
	commands, files := wholeWay(t)
	w := &way{t: t, dir: t.TempDir()}
	if err := os.Symlink(harness.Binary, filepath.Join(w.dir, "portcullis")); err != nil {
		t.Fatal(err)
	}
	files["authz/project_delete.rego"] = strings.Replace(files["authz/project_delete.rego"], `"token"`, `"tokn"`, 1)
	for _, c := range commands {
		if strings.Contains(c.command, "policy test --run") {
			w.write(files, "authz/project_delete.rego", "authz/project_delete_test.rego")
		}
		if c.command == "portcullis policy check own" && w.bundled && w.gateway == nil {
			w.write(files, "guards/projects.rego")
		}
		w.typed(c)
	}
	if w.gateway == nil {
		t.Error("no gateway was started")
	}
}

// way is a folder in which the page is typed.
type way struct {
	t       *testing.T
	dir     string
	gateway *harness.Gateway
	bundled bool
}

func (w *way) write(files map[string]string, names ...string) {
	for _, name := range names {
		place := filepath.Join(w.dir, "own", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(place), 0o750); err != nil {
			w.t.Fatal(err)
		}
		harness.WriteFile(w.t, place, files[name])
	}
}

// typed types a command and holds what it prints to the page.
func (w *way) typed(c typed) {
	w.t.Helper()
	switch {
	case strings.HasPrefix(c.command, "portcullis serve"):
		w.gateway = harness.Launch(w.t, filepath.Join(w.dir, "data"), "--demo", "--policy-dir", filepath.Join(w.dir, "own"))
		return
	case strings.HasPrefix(c.command, "opa ") || strings.HasSuffix(c.command, "policies.tar.gz"):
		w.bundled = true
		if _, err := lookPath("opa"); err != nil {
			return // policies/bundles holds what opa makes
		}
	case strings.HasPrefix(c.command, "grep "):
		harness.Soon(w.t, "the change is refused", func() bool { return strings.Contains(w.gateway.Stderr.String(), "policy change refused") })
		harness.WriteFile(w.t, filepath.Join(w.dir, "gateway.log"), w.gateway.Stderr.String())
	}
	command := c.command
	if w.gateway != nil && strings.Contains(command, "live") {
		command += " --url " + w.gateway.HealthURL
	}
	tools, err := filepath.Abs(filepath.Join(root, ".tools", "bin"))
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "PATH="+strings.Join([]string{w.dir, tools, os.Getenv("PATH")}, string(os.PathListSeparator)))
	out, _ := cmd.CombinedOutput() // the page says how it ends
	if !shows(string(out), c.printed) {
		w.t.Errorf("$ %s\nprints\n%s\nthe page has\n%s", c.command, out, strings.Join(c.printed, "\n"))
	}
}
