package docs_test

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// notRun are the beginnings of commands that are not typed here, and why.
var notRun = map[string]string{
	"make run":  "it listens on the page's own ports; the tests start a gateway with the same data",
	"make test": "it is what runs this test",

	"docker ":         "there is no Docker where the tests run; test/cli starts the image's file system",
	"TOKEN=$(docker ": "as above",
	"kubectl ":        "there is no cluster; make deploy-check renders the chart",
	"helm ":           "as above",

	"portcullis console --url ":      "its gateway and its files are examples; test/console runs one",
	"portcullis console link ":       "it asks a gateway on the page's own ports; test/console signs in with links",
	"mongosh ":                       "it is no part of a server; test/consistency does the same by the driver",
	"mongodump ":                     "as above",
	"redis-server ":                  "it runs until it is stopped; test/servers starts it",
	"nginx ":                         "it listens on the page's own ports; test/proxies runs the examples",
	"curl -i http://127.0.0.1:8000/": "it asks nginx",

	"go run github.com/oapi-codegen/": "it downloads; test/clients makes the client, at this version",
	"npx ":                            "as above",

	"portcullis serve --policy-bundle https://":            "there is no such server; test/faults serves bundles",
	"portcullis serve --master-key-file":                   "it needs a MongoDB; test/consistency runs replicas",
	"portcullis store copy --from ./data --to 'mongodb://": "as above; store/transfer copies",
	"portcullis store new-generation ":                     "as above; test/consistency does it",
	"portcullis store verify --mongo-url":                  "as above",
	"portcullis decisions tail -f":                         "it runs until it is stopped; test/cli follows",
	`portcullis decisions show "$ID" | jq`:                 "jq is no part of a server",
}

// TestCommandsDoWhatThePagesSay types every command of the README and of docs, page by page, each in a folder of its own
// in which a gateway with demo data runs. A command of a block with output prints it; any other succeeds.
func TestCommandsDoWhatThePagesSay(t *testing.T) {
	t.Parallel()
	tier.Check(t)
	for _, tool := range []string{"bash", "curl", "opa", "openssl"} {
		if _, err := lookPath(tool); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	unused := maps.Clone(notRun)
	for name, text := range pages(t) {
		var commands []typed
		for _, b := range blocks(text) {
			for _, c := range b.commands(t) {
				if begins := leftOut(c.command); begins != "" {
					delete(unused, begins)
				} else {
					commands = append(commands, c)
				}
			}
		}
		if !slices.ContainsFunc(commands, func(c typed) bool { return c.command != "" }) || name != "README.md" && !strings.HasPrefix(name, "docs/") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTypist(t)
			for _, c := range commands {
				p.types(t, c)
			}
		})
	}
	for begins := range unused {
		t.Errorf("no page has a command that begins with %q", begins)
	}
}

// leftOut returns why notRun leaves a command out: its beginning there, "" for one that is typed.
func leftOut(command string) string {
	for begins := range notRun {
		if strings.HasPrefix(command, begins) {
			return begins
		}
	}
	return ""
}

// lookPath finds a tool, and the OPA that the Makefile installs.
func lookPath(tool string) (string, error) {
	if tool == "opa" {
		return exec.LookPath(filepath.Join(root, ".tools", "bin", tool))
	}
	return exec.LookPath(tool)
}

// typist types the commands of a page in a folder.
type typist struct {
	dir     string
	gateway *harness.Gateway
	served  int
}

func newTypist(t *testing.T) *typist {
	t.Helper()
	p := &typist{dir: t.TempDir()}
	p.gateway = harness.Launch(t, filepath.Join(p.dir, "data"), "--demo")
	harness.SoonWithin(t, 30*time.Second, "the demo is made", func() bool { return strings.Contains(p.gateway.Stdout.String(), "curl") })
	examples, err := filepath.Abs(filepath.Join(root, "gateway"))
	if err == nil {
		err = os.Symlink(examples, filepath.Join(p.dir, "gateway"))
	}
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, os.Mkdir(filepath.Join(p.dir, "bin"), 0o750))
	curl := must.Get(exec.LookPath("curl"))(t)
	opa, err := lookPath("opa")
	if err != nil {
		t.Fatal(err)
	}
	if opa, err = filepath.Abs(opa); err != nil {
		t.Fatal(err)
	}
	for name, does := range map[string]string{
		"portcullis": `case "$1" in check | why) set -- "$@" --url ` + p.gateway.URL + "; esac\nexec '" + harness.Binary + `' "$@"`,
		"curl":       "exec '" + curl + `' --fail-with-body "$@"`,                                        // so that an error is one
		"opa":        `case "$1" in test) set -- "$@" --timeout 60s; esac` + "\nexec '" + opa + `' "$@"`, // a busy machine is slow
	} {
		script := filepath.Join(p.dir, "bin", name)
		harness.WriteFile(t, script, "#!/bin/sh\n"+does+"\n")
		must.Do(t, os.Chmod(script, 0o700))
	}
	return p
}

// types types a command, and holds what it does to the page. What it sets is there for the next one. A file is written.
func (p *typist) types(t *testing.T, c typed) {
	t.Helper()
	if c.file != "" {
		place := filepath.Join(p.dir, filepath.FromSlash(c.file))
		must.Do(t, os.MkdirAll(filepath.Dir(place), 0o750))
		harness.WriteFile(t, place, c.text)
		return
	}
	command := strings.NewReplacer("http://127.0.0.1:8080", p.gateway.URL).Replace(c.command)
	if strings.HasPrefix(command, "portcullis serve ") {
		p.serves(t, command)
		return
	}
	out, err := p.shell(command + "\n").CombinedOutput()
	switch {
	case c.shown:
		if !shows(string(out), c.printed) {
			t.Errorf("$ %s\nprints\n%s\nthe page has\n%s", c.command, out, strings.Join(c.printed, "\n"))
		}
	case err != nil:
		t.Errorf("$ %s\n%s\n%v", c.command, out, err)
	}
}

// serves starts a gateway as a page says, on free ports, and waits until it is ready.
func (p *typist) serves(t *testing.T, command string) {
	t.Helper()
	command = regexp.MustCompile(`\s+#.*$`).ReplaceAllString(command, "") + " --listen 127.0.0.1:0 --users-listen 127.0.0.1:0 --health-listen 127.0.0.1:0"
	if strings.Contains(command, "--demo") || strings.Contains(command, "--console-") {
		command += " --console-listen 127.0.0.1:0"
	}
	if !strings.Contains(command, "--data-dir") {
		p.served++
		command += fmt.Sprintf(" --data-dir ./served-%d", p.served)
	}
	cmd := p.shell("exec " + command)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe := must.Get(cmd.StderrPipe())(t)
	must.Do(t, cmd.Start())
	end := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	late := time.AfterFunc(time.Minute, end)
	ready, said := false, []string{}
	for lines := bufio.NewScanner(pipe); !ready && lines.Scan(); {
		said = append(said, lines.Text())
		ready = harness.ReadyLine(lines.Bytes()) != nil
	}
	late.Stop()
	end()
	_ = cmd.Wait() // it was killed
	if !ready {
		t.Errorf("$ %s\n%s", command, strings.Join(said, "\n"))
	}
}

// shell returns a command in the typist's folder, with what the commands before it have set.
func (p *typist) shell(command string) *exec.Cmd {
	const before, after = "set -a; if [ -f .set ]; then . ./.set; fi\n", "\nstatus=$?; export -p > .set; exit $status"
	cmd := exec.Command("bash", "-c", before+command+after)
	cmd.Dir = p.dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PORTCULLIS_") }),
		"PATH="+filepath.Join(p.dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	return cmd
}
