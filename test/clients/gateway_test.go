package clients_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/binary"
	"github.com/portcullis-authz/portcullis/test/must"
)

// gateway is a `portcullis serve --demo`.
type gateway struct {
	url string
	// token is that of the demo account's admin.
	token string
	// group is the id of a security group of the demo project.
	group string
}

const (
	accountPath = "/api/v1/accounts/acct-demo-v1"
	groupsPath  = accountPath + "/projects/proj-demo-v1/security-groups"
)

var saysWhere = regexp.MustCompile(`"msg":"ready".*"listen":"([^"]+)"`)

func startGateway(t *testing.T) *gateway {
	t.Helper()
	dir := t.TempDir()
	program := must.Get(binary.Build("../..", false))(t)
	cmd := exec.Command(program, "serve", "--demo", "--data-dir", dir, "--listen", "127.0.0.1:0", "--users-listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0",
		"--console-listen", "127.0.0.1:0")
	log := must.Get(cmd.StderrPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	g := &gateway{}
	lines := bufio.NewReader(log)
	for g.url == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("it ended before it was ready: %s", line)
		}
		if m := saysWhere.FindStringSubmatch(line); m != nil {
			g.url = "http://" + m[1]
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	g.token = strings.TrimSpace(string(run(t, ".", program, "token", "--data-dir", dir, "--user", "user-alice-v1")))
	made := g.call(t, "POST", groupsPath, `{"project_id":"proj-demo-v1","name":"made before","rules":[{"direction":"egress","protocol":"icmp"}]}`)
	group, _ := made["security_group"].(map[string]any)
	if g.group, _ = group["id"].(string); g.group == "" {
		t.Fatalf("no security group was made: %v", made)
	}
	return g
}

// call makes a request without a client and gives the answer of any status.
func (g *gateway) call(t *testing.T, method, path, body string) map[string]any {
	t.Helper()
	for range tries {
		r := must.Get(http.NewRequest(method, g.url+path, strings.NewReader(body)))(t)
		r.Header.Set("Authorization", "Bearer "+g.token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Account-ID", "acct-demo-v1")
		answer := must.Get(http.DefaultClient.Do(r))(t)
		text, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if !undecided(text) {
			return object(t, text)
		}
	}
	t.Fatalf("%s %s: no decision in %d tries", method, path, tries)
	return nil
}

// tries is how often a request may end without a decision, as one does on a busy machine.
const tries = 20

// undecided finds the texts of such an end, after which nothing was done.
func undecided(text []byte) bool {
	return bytes.Contains(text, []byte("authorization state unavailable")) || bytes.Contains(text, []byte("decision could not be made"))
}

// object reads a JSON object. Times are made comparable: a client may write them in another form.
func object(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return sameTimes(v).(map[string]any)
}

func sameTimes(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = sameTimes(v[name])
		}
	case []any:
		for i := range v {
			v[i] = sameTimes(v[i])
		}
	case string:
		if moment, err := time.Parse(time.RFC3339, v); err == nil {
			return moment.UTC()
		}
	}
	return v
}

// run runs a command in a folder and gives what it wrote; it must succeed.
func run(t *testing.T, dir, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	var failure bytes.Buffer
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, failure.Bytes())
	}
	return out
}
