package cli_test

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

// typed is a command of the page, and what it prints; … stands for lines that are left out.
type typed struct {
	command string
	printed []string
}

// wholeWay reads the commands of "The whole way" in policies/README.md, and the files that it names.
func wholeWay(t *testing.T) (commands []typed, files map[string]string) {
	t.Helper()
	page, err := os.ReadFile("../../policies/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, way, _ := strings.Cut(string(page), "\n## The whole way\n")
	way, _, _ = strings.Cut(way, "\n## ")
	for line := range strings.Lines(way) {
		line, code := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
		command, is := strings.CutPrefix(line, "$ ")
		switch {
		case code && is:
			commands = append(commands, typed{command: command})
		case code && len(commands) > 0:
			last := &commands[len(commands)-1]
			last.printed = append(last.printed, line)
		}
	}
	files = map[string]string{}
	for _, file := range regexp.MustCompile("`(authz/project_delete[^`]*\\.rego)`[^\n]*\n\n```rego\n((?s:.*?))```\n").FindAllStringSubmatch(string(page), -1) {
		files[file[1]] = file[2]
	}
	guard := regexp.MustCompile("```rego\n(package guards\n(?s:.*?))```\n").FindStringSubmatch(string(page))
	if len(commands) < 10 || len(files) != 2 || guard == nil {
		t.Fatalf("%d commands, %d files", len(commands), len(files))
	}
	files["guards/projects.rego"] = guard[1]
	return commands, files
}

// changing is what is another on each machine and at each change of the shipped tree.
var changing = regexp.MustCompile(`\b[0-9a-f]{12}\b|\d+(\.\d+)?(ms|s|µs)\b|"time":"[^"]*"|"duration_ms":\d+|\d+ questions|questions: \d+|PASS: 1\d+/1\d+|` +
	`(access|reasons|gain) \(\d+\)|\d+ files|routes: \d+|tests: \d+|lists \d+ actions`)

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
		at := filepath.Join(w.dir, "own", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
			w.t.Fatal(err)
		}
		harness.WriteFile(w.t, at, files[name])
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
		if _, err := exec.LookPath("opa"); err != nil {
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
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "PATH="+w.dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, _ := cmd.CombinedOutput() // the page says how it ends
	if !shows(string(out), c.printed) {
		w.t.Errorf("$ %s\nprints\n%s\nthe page has\n%s", c.command, out, strings.Join(c.printed, "\n"))
	}
}

// shows says whether an output has all lines of the page, in their order, and no others but where the page leaves some out.
// Blank lines don't count.
func shows(out string, page []string) bool {
	lines, skips := written(strings.Split(out, "\n")), false
	for _, want := range written(page) {
		if want == "…" {
			skips = true
			continue
		}
		for skips && len(lines) > 0 && lines[0] != want {
			lines = lines[1:]
		}
		if len(lines) == 0 || lines[0] != want {
			return false
		}
		lines, skips = lines[1:], false
	}
	return skips || len(lines) == 0
}

// written are the lines in which something stands, without what is another each time.
func written(lines []string) (out []string) {
	for _, line := range lines {
		if line = strings.TrimRight(line, " "); line != "" {
			out = append(out, changing.ReplaceAllString(line, "~"))
		}
	}
	return out
}
