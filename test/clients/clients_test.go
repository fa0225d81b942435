package clients_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// cases are what each client's program is asked by name. A check holds its answer to what the
// gateway answers without a client.
var cases = map[string]func(t *testing.T, g *gateway, answer map[string]any){
	"role list": func(t *testing.T, g *gateway, answer map[string]any) {
		same(t, answer, g.call(t, "GET", accountPath+"/roles?scope=PROJECT&pageSize=100", ""))
		if roles, _ := answer["data"].([]any); len(roles) < 2 {
			t.Errorf("%d roles: %v", len(roles), answer)
		}
	},
	"security group": func(t *testing.T, g *gateway, answer map[string]any) {
		same(t, answer, g.call(t, "GET", groupsPath+"/"+g.group, ""))
	},
	"new security group": func(t *testing.T, g *gateway, answer map[string]any) {
		made, _ := answer["security_group"].(map[string]any)
		id, _ := made["id"].(string)
		same(t, made, g.call(t, "GET", groupsPath+"/"+id, "")["security_group"])
		same(t, made["metadata"], map[string]any{"tier": "web"})
		if rules, _ := made["rules"].([]any); len(rules) != 1 {
			t.Errorf("%d rules of the one that was sent", len(rules))
		}
	},
	"evaluation": func(t *testing.T, g *gateway, answer map[string]any) {
		want := g.call(t, "POST", "/access/v1/evaluation", `{"subject":{"type":"user","id":"user-alice-v1"},"action":{"name":"project:instance:create"},
			"resource":{"type":"instances","id":"i-1","properties":{"project_id":"proj-demo-v1"}}}`)
		for _, fields := range []map[string]any{answer, want} {
			if context, ok := fields["context"].(map[string]any); ok {
				delete(context, "decision_id")
			}
		}
		same(t, answer, want)
		if answer["decision"] != true {
			t.Errorf("alice may not: %v", answer)
		}
	},
	"evaluations": func(t *testing.T, _ *gateway, answer map[string]any) {
		items, _ := answer["evaluations"].([]any)
		var said []any
		for _, item := range items {
			decision, _ := item.(map[string]any)
			said = append(said, decision["decision"])
		}
		same(t, said, []any{true, false})
	},
	"refused security group": func(t *testing.T, g *gateway, answer map[string]any) {
		same(t, answer, g.call(t, "POST", groupsPath, `{"project_id":"proj-demo-v1","name":""}`))
	},
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the client has %v, the gateway %v", got, want)
	}
}

// TestDocumentMakesClients: a client that is made of the gateway's own document compiles, and has
// from the gateway what the gateway answers.
func TestDocumentMakesClients(t *testing.T) {
	t.Parallel()
	tier.Check(t)
	g := startGateway(t)
	r := must.Get(http.Get(g.url + "/openapi.json"))(t)
	defer func() { _ = r.Body.Close() }()
	document, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v", r.StatusCode, err)
	}
	for language, made := range map[string]func(t *testing.T, dir string) []string{"go": goClient, "typescript": typescriptClient} {
		t.Run(language, func(t *testing.T) {
			dir := t.TempDir()
			must.Do(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", language))))
			must.Do(t, os.WriteFile(filepath.Join(dir, "openapi.json"), document, 0o600))
			client := made(t, dir)
			for name, check := range cases {
				t.Run(name, func(t *testing.T) { check(t, g, g.ask(t, client, name)) })
			}
		})
	}
}

// ask has a client's program ask the gateway.
func (g *gateway) ask(t *testing.T, client []string, name string) map[string]any {
	t.Helper()
	var failure bytes.Buffer
	for range tries {
		cmd := exec.CommandContext(t.Context(), client[0], append(client[1:], name)...)
		cmd.Env = append(os.Environ(), "GATEWAY="+g.url, "TOKEN="+g.token, "GROUP="+g.group)
		failure.Reset()
		cmd.Stderr = &failure
		out, err := cmd.Output()
		if err == nil {
			return object(t, out)
		}
		if !undecided(failure.Bytes()) {
			break
		}
	}
	t.Fatalf("%s", failure.Bytes())
	return nil
}

// goClient makes the program by oapi-codegen, which `make tool-oapi-codegen` installs.
func goClient(t *testing.T, dir string) []string {
	t.Helper()
	generator := must.Get(filepath.Abs("../../.tools/bin/oapi-codegen"))(t)
	if _, err := os.Stat(generator); err != nil {
		missing(t, "oapi-codegen is not there (make tool-oapi-codegen): "+err.Error())
	}
	obtain(t, dir, "go", "mod", "download")
	run(t, dir, generator, "-config", "oapi-codegen.yaml", "openapi.json")
	run(t, dir, "go", "build", "-o", "client", ".")
	return []string{filepath.Join(dir, "client")}
}

// typescriptClient makes the program by openapi-typescript and the compiler, at the versions of the
// lock file.
func typescriptClient(t *testing.T, dir string) []string {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing(t, err.Error())
		}
	}
	obtain(t, dir, "npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--no-update-notifier")
	tools := filepath.Join(dir, "node_modules", ".bin")
	run(t, dir, filepath.Join(tools, "openapi-typescript"), "openapi.json", "--output", "portcullis.ts", "--default-non-nullable=false")
	run(t, dir, filepath.Join(tools, "tsc"))
	return []string{"node", filepath.Join(dir, "out", "main.js")}
}

// obtain runs a command that may need a package registry.
func obtain(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		missing(t, name+" can't have what the client needs: "+err.Error()+"\n"+string(out))
	}
}

// missing skips a client with missing tools; in CI it fails.
func missing(t *testing.T, text string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(text)
	}
	t.Skip(text)
}
