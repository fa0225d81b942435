package flood_test

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/must"
)

// gateway is a `portcullis serve --demo` with a data folder of its own.
type gateway struct {
	address, health string
	dir, token      string
	pid             int
}

var saysWhere = regexp.MustCompile(`"msg":"ready".*"listen":"([^"]+)".*"health_listen":"([^"]+)"`)

func startGateway(t *testing.T, s size) *gateway {
	t.Helper()
	dir := cmp.Or(s.dir, t.TempDir())
	command := append([]string{
		program, "serve", "--demo", "--data-dir", dir, "--listen", "127.0.0.1:0", "--users-listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0",
		"--console-listen", "127.0.0.1:0",
	}, s.args...)
	if s.cores != "" {
		command = onCores(s.cores, command)
	}
	cmd := exec.Command(command[0], command[1:]...)
	log := must.Get(cmd.StderrPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	g := &gateway{pid: cmd.Process.Pid, dir: dir}
	lines := bufio.NewReader(log)
	for g.address == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("it ended before it was ready: %s", line)
		}
		if m := saysWhere.FindStringSubmatch(line); m != nil {
			g.address, g.health = m[1], m[2]
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	g.token = g.tokenOf(t, "--service", "flood", "--scope", "authz:check")
	return g
}

// question is an authorization check about the user.
func (g *gateway) question(user string) string {
	return "POST /api/v1/authorize/accounts/acct-demo-v1/projects/proj-demo-v1/instances HTTP/1.1\r\nHost: gateway\r\n" +
		"Authorization: Bearer " + g.token + "\r\nX-User-ID: " + user + "\r\nX-Account-ID: acct-demo-v1\r\n" +
		"X-Action: project:instance:read\r\n\r\n"
}

// ready asks the health listener.
func (g *gateway) ready() (status int, took time.Duration, err error) {
	began := time.Now()
	r, err := (&http.Client{Timeout: 10 * time.Second}).Get("http://" + g.health + "/healthz/ready")
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = r.Body.Close() }()
	_, err = io.Copy(io.Discard, r.Body)
	return r.StatusCode, time.Since(began), err
}

// memory is what it has resident, in MiB: now, and at most until now.
func (g *gateway) memory(t *testing.T) (now, peak int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", g.pid))
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("there is no /proc here:", err)
	}
	read := func(name string) int {
		m := regexp.MustCompile(name + `:\s+(\d+) kB`).FindSubmatch(text)
		if m == nil {
			t.Fatalf("no %s", name)
		}
		n, _ := strconv.Atoi(string(m[1])) // only digits
		return n >> 10
	}
	return read("VmRSS"), read("VmHWM")
}

// tokenOf is a token for whom the arguments name.
func (g *gateway) tokenOf(t *testing.T, args ...string) string {
	t.Helper()
	token := must.Get(exec.Command(program, append([]string{"token", "--data-dir", g.dir}, args...)...).Output())(t)
	return strings.TrimSpace(string(token))
}
