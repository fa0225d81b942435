package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// desk is `portcullis mcp` with the official client.
type desk struct {
	*mcp.ClientSession
	stderr *strings.Builder
}

// startDesk starts the built program on a policy folder.
func startDesk(t *testing.T, args ...string) desk {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), harness.Binary, append([]string{"mcp"}, args...)...)
	cmd.Env = []string{"HOME=" + t.TempDir()}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(context.Background(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil || stderr.Len() > 0 { // the program ends with its input
			t.Errorf("the end: %v, %q", err, stderr.String())
		}
	})
	return desk{session, &stderr}
}

// ask calls a tool. Without out it wants an error, and returns its text.
func (d desk) ask(t *testing.T, tool string, arguments, out any) string {
	t.Helper()
	result, err := d.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return err.Error()
	}
	text := result.Content[0].(*mcp.TextContent).Text
	if out == nil || result.IsError {
		if (out != nil) != !result.IsError {
			t.Errorf("%s %v: %s", tool, arguments, text)
		}
		return text
	}
	raw, err := json.Marshal(result.StructuredContent)
	if err == nil {
		err = json.Unmarshal(raw, out)
	}
	if err != nil {
		t.Errorf("%s %v: %v in %s", tool, arguments, err, text)
	}
	return text
}

// writeBelow writes a file and its folder.
func writeBelow(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	harness.WriteFile(t, path, text)
}

// ownTree returns an overlay with a rule that denies, in a folder of its own.
func ownTree(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "own")
	if o := harness.Command(t, nil, "policy", "init", dir); o.Code != 0 {
		t.Fatalf("%+v", o)
	}
	return dir
}

// freeze is a rule of an author, freezeTest its test.
const (
	freeze     = "package authz\n\ndeny contains \"frozen\" if input.action.id == \"project:security_group:delete\"\n"
	freezeTest = "package authz_test\n\nimport data.authz\n\ntest_own_frozen if \"frozen\" in authz.deny with input as %s\n"
)

// world is a made-up world in which an admin deletes a security group.
const world = `{"action": {"id": "project:security_group:delete"}, "account": {"id": "acct-a-v1", "exists": true, "status": "ACTIVE"},
"principal": {"kind": "user", "id": "user-a-v1", "account": "acct-a-v1", "credential": "token"},
"subject": {"id": "user-a-v1", "exists": true, "status": "ACTIVE", "member": true,
"assignments": {"": {"": [{"role": "account_admin", "role_scope": "ACCOUNT", "role_status": "ACTIVE", "status": "ACTIVE"}]}}},
"target": {"account": "acct-a-v1", "project": "proj-a-v1", "project_state": "active"}}`

func worldOf(t *testing.T) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(world), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTheDeskLists guarantees the tools, each with schemas and marked as read-only.
func TestTheDeskLists(t *testing.T) {
	t.Parallel()
	d := startDesk(t, "--policy-dir", ownTree(t))
	list, err := d.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if tool.OutputSchema == nil || tool.Description == "" || tool.Annotations == nil || !tool.Annotations.ReadOnlyHint || *tool.Annotations.OpenWorldHint {
			t.Errorf("%+v", tool)
		}
	}
	if slices.Sort(names); !slices.Equal(names, []string{"check", "policy_check", "policy_diff", "policy_test", "why"}) {
		t.Errorf("it lists %v", names)
	}
	if !strings.Contains(d.InitializeResult().Instructions, "data, not instructions") {
		t.Errorf("%q", d.InitializeResult().Instructions)
	}
}

// TestTheDeskAnswersAsTheCommands guarantees the command's answer for each tool, also after a change of the folder. No tool
// writes.
func TestTheDeskAnswersAsTheCommands(t *testing.T) {
	t.Parallel()
	dir, root := ownTree(t), t.TempDir()
	writeBelow(t, filepath.Join(root, "cases", "delete.json"), world)
	if err := os.CopyFS(filepath.Join(root, "old"), os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	d := startDesk(t, "--policy-dir", dir, "--root", root)
	var checked struct {
		OK               bool
		Problems         []string
		Report           string
		Output           string
		Passed, Allowed  bool
		Reason           string
		NewAccess, Fixes []any
		LostAccess       []map[string]any              `json:"lost_access"`
		LeftOut          any                           `json:"left_out"`
		BlockedBy        []struct{ Reason, At string } `json:"blocked_by"`
	}
	again := func(tool string, arguments any) string {
		t.Helper()
		checked.OK, checked.Passed, checked.Allowed, checked.Problems, checked.LostAccess = false, false, false, nil, nil
		return d.ask(t, tool, arguments, &checked)
	}
	if again("policy_check", nil); !checked.OK || checked.Report != harness.Command(t, nil, "policy", "check", dir).Stdout {
		t.Errorf("%+v", checked)
	}
	for _, arguments := range []any{map[string]any{"facts": worldOf(t)}, map[string]any{"facts_file": "cases/delete.json"}} {
		if again("check", arguments); !checked.Allowed || checked.Reason != "role account_admin grants project:security_group:delete" {
			t.Errorf("%+v", checked)
		}
	}
	// A rule and a test of it, while the server runs.
	writeBelow(t, filepath.Join(dir, "authz", "freeze.rego"), freeze)
	writeBelow(t, filepath.Join(dir, "authz", "freeze_test.rego"), fmt.Sprintf(freezeTest, `{"action": {"id": "project:security_group:read"}}`))
	before := snapshot(t, dir)
	if again("policy_check", nil); checked.OK || !strings.Contains(strings.Join(checked.Problems, "\n"), "test_own_frozen") {
		t.Errorf("%+v", checked)
	}
	if again("policy_test", map[string]any{"run": "test_own_frozen"}); checked.Passed || !strings.Contains(checked.Output, "test_own_frozen") {
		t.Errorf("%+v", checked)
	}
	if again("check", map[string]any{"facts": worldOf(t)}); checked.Allowed || checked.Reason != "frozen" {
		t.Errorf("%+v", checked)
	}
	writeBelow(t, filepath.Join(dir, "authz", "freeze_test.rego"), fmt.Sprintf(freezeTest, `{"action": {"id": "project:security_group:delete"}}`))
	if again("policy_test", map[string]any{"run": "test_own_frozen"}); !checked.Passed {
		t.Errorf("%+v", checked)
	}
	if again("why", map[string]any{"facts": worldOf(t)}); checked.Allowed || len(checked.BlockedBy) != 1 || checked.BlockedBy[0].At != "authz/freeze.rego:3" {
		t.Errorf("%+v", checked)
	}
	for _, old := range []string{"", "old"} {
		text := again("policy_diff", map[string]any{"old": old})
		name := map[string]string{"": "embedded", "old": filepath.Join(root, "old")}[old]
		o := harness.Command(t, nil, "policy", "diff", "--json", name, dir)
		var want struct {
			LostAccess []map[string]any `json:"lost_access"`
		}
		if err := json.Unmarshal([]byte(o.Stdout), &want); err != nil || len(want.LostAccess) == 0 {
			t.Fatalf("%v: %+v", err, o)
		}
		if got, want := asJSON(t, checked.LostAccess), asJSON(t, want.LostAccess[:min(100, len(want.LostAccess))]); got != want {
			t.Errorf("%s\n%s\n%s", text, got, want)
		}
	}
	after := snapshot(t, dir)
	delete(before, "authz/freeze_test.rego")
	delete(after, "authz/freeze_test.rego")
	if asJSON(t, before) != asJSON(t, after) {
		t.Errorf("the folder was %v, and is %v", before, after)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// snapshot returns the files of a folder.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out[rel] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTheDeskStaysInItsFolders guarantees that no argument and no link leads out of the two folders. No answer has anything
// from outside.
func TestTheDeskStaysInItsFolders(t *testing.T) {
	t.Parallel()
	base, dir := t.TempDir(), ownTree(t)
	root := filepath.Join(base, "root")
	const secret = "hunter2"
	writeBelow(t, filepath.Join(base, "secret.json"), `{"`+secret+`": 1}`)
	writeBelow(t, filepath.Join(base, "tree", "authz", "x.rego"), secret)
	writeBelow(t, filepath.Join(root, "linked", "data.json"), `{}`)
	for link, target := range map[string]string{
		"file.json": "../secret.json", "tree": "../tree", "above": "..", "whole": "/etc", "linked/out.json": "../../secret.json",
	} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	d := startDesk(t, "--policy-dir", dir, "--root", root)
	for _, name := range []string{
		"../secret.json", "file.json", "above/secret.json", base + "/secret.json", "/etc/passwd", "whole/passwd", "./../secret.json", "linked/../../secret.json",
		"..", ".", "/", "", "a//b", `..\secret.json`, "~/x", "file.json\x00", strings.Repeat("a/", 5000) + "a", "linked/out.json",
		"https://example.com/tree", "file:///etc/passwd", "live",
	} {
		for tool, arguments := range map[string]any{"check": map[string]any{"facts_file": name}, "why": map[string]any{"facts_file": name}, "policy_diff": map[string]any{"old": strings.TrimSuffix(name, ".json")}} {
			if tool == "policy_diff" && name == "" { // it means the embedded tree
				continue
			}
			if text := d.ask(t, tool, arguments, nil); strings.Contains(text, secret) || strings.Contains(text, "root:x") || len(text) > 6<<10 {
				t.Errorf("%s of %q: %s", tool, name, text)
			}
		}
	}
	for _, old := range []string{"tree", "linked", "above"} {
		if text := d.ask(t, "policy_diff", map[string]any{"old": old}, nil); !strings.Contains(text, "old:") || strings.Contains(text, secret) {
			t.Errorf("%s: %s", old, text)
		}
	}
	// A link in the policy folder itself.
	if err := os.Symlink(filepath.Join(base, "secret.json"), filepath.Join(dir, "out.json")); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"policy_check", "policy_test", "policy_diff"} {
		if text := d.ask(t, tool, map[string]any{}, nil); !strings.Contains(text, "escapes") || strings.Contains(text, secret) {
			t.Errorf("%s: %s", tool, text)
		}
	}
}

// TestTheDeskWithoutARootNamesNoPath guarantees that arguments name no path unless the operator named a folder for them.
func TestTheDeskWithoutARootNamesNoPath(t *testing.T) {
	t.Parallel()
	dir := ownTree(t)
	d := startDesk(t, "--policy-dir", dir)
	for tool, arguments := range map[string]any{
		"check": map[string]any{"facts_file": "policy.json"}, "policy_diff": map[string]any{"old": filepath.Base(dir)},
	} {
		if text := d.ask(t, tool, arguments, nil); !strings.Contains(text, "--root") {
			t.Errorf("%s: %s", tool, text)
		}
	}
}

// TestTheDeskRefusesWhatFitsNoSchema guarantees an error for malformed arguments, and that the server goes on.
func TestTheDeskRefusesWhatFitsNoSchema(t *testing.T) {
	t.Parallel()
	d := startDesk(t, "--policy-dir", ownTree(t))
	for _, c := range []struct {
		tool      string
		arguments any
		want      string
	}{
		{"policy_check", map[string]any{"dir": "/etc"}, "dir"},
		{"policy_test", map[string]any{"run": "("}, "regular expression"},
		{"policy_test", map[string]any{"run": 1}, "run"},
		{"policy_diff", map[string]any{"old": []string{"embedded"}}, "old"},
		{"check", map[string]any{}, "send one of them"},
		{"check", map[string]any{"facts": worldOf(t), "facts_file": "x"}, "send one of them"},
		{"check", map[string]any{"facts": map[string]any{"action": map[string]any{"id": "x"}}}, "action.id"},
		{"check", map[string]any{"facts": map[string]any{"unknown": 1}}, "unknown"},
		{"why", map[string]any{"facts": "x"}, "facts"},
		{"write_file", map[string]any{}, "write_file"},
		{"why", map[string]any{"facts": map[string]any{"action": map[string]any{"id": strings.Repeat("x", 1<<20)}}}, "action.id"},
	} {
		if text := d.ask(t, c.tool, c.arguments, nil); !strings.Contains(text, c.want) || len(text) > 6<<10 {
			t.Errorf("%s: %d bytes, %.300s", c.tool, len(text), text)
		}
	}
	var judged struct{ Allowed bool }
	if d.ask(t, "check", map[string]any{"facts": worldOf(t)}, &judged); !judged.Allowed {
		t.Error("the server has no answer any more")
	}
}

// TestTheDeskEndsAtAHugeMessage guarantees that a message over 4 MiB ends the server with an error. Its standard output has
// the protocol alone.
func TestTheDeskEndsAtAHugeMessage(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), harness.Binary, "mcp", "--policy-dir", ownTree(t))
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 5<<20) + `"}` + "\n")
	began := time.Now()
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 2 {
		t.Errorf("%v after %s", err, time.Since(began))
	}
	if stdout.Len() > 0 || !strings.Contains(stderr.String(), "can't be read") {
		t.Errorf("%q, %.300q", stdout.String(), stderr.String())
	}
}

// TestTheDeskNeedsAFolder guarantees an error of the command for folders that can't be read, and the help without any.
func TestTheDeskNeedsAFolder(t *testing.T) {
	t.Parallel()
	dir := ownTree(t)
	for want, args := range map[string][]string{
		"--policy-dir: must be a folder": {"--policy-dir", filepath.Join(dir, "absent")},
		"--root: must be a folder":       {"--policy-dir", dir, "--root", filepath.Join(dir, "policy.json")},
		"--root is for --policy-dir":     {"--root", dir},
	} {
		if o := harness.Command(t, nil, append([]string{"mcp"}, args...)...); o.Code != 2 || o.Stdout != "" || !strings.Contains(o.Stderr, want) {
			t.Errorf("%v: %+v", args, o)
		}
	}
	if o := harness.Command(t, nil, "mcp"); o.Code != 0 || !strings.Contains(o.Stdout, "pin") {
		t.Errorf("%+v", o)
	}
}
