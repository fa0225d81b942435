package attacks_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"
)

// forbiddenRules are what no tree may hold.
func forbiddenRules(site string) map[string]string {
	out := map[string]string{
		"default allows":  `default more := true` + "\n\n" + `decision := {"allow": true, "reason": "x"} if more`,
		"another default": `default decision := {"allow": true, "reason": "x"}`,
		"misspelt input":  `deny contains "x" if input.acton.id == "x"`,
		"misspelt data":   `deny contains "x" if data.grants.account_admin.permisions["x"]`,
		"syntax":          `deny contains "x" if {`,
		"unsafe variable": `deny contains x if input.now == 1`,
		"recursion":       `_a if _b` + "\n\n" + `_b if _a`,
	}
	for name, call := range map[string]string{
		"http.send": `http.send({"method": "get", "url": "` + site + `"})`, "net.lookup_ip_addr": `net.lookup_ip_addr("localhost")`, "opa.runtime": `opa.runtime()`, "rego.parse_module": `rego.parse_module("a", "package a")`, "trace": `trace("x")`, "io.jwt.encode_sign": `io.jwt.encode_sign({}, {}, {})`,
		"io.jwt.encode_sign_raw": `io.jwt.encode_sign_raw("", "", "")`, "providers.aws.sign_req": `providers.aws.sign_req({}, {}, 1)`, "bits.lsh": `bits.lsh(1, 9223372036854775807)`, "graph.reachable_paths": `graph.reachable_paths({}, [])`, "indexof_n": `indexof_n("abc", "")`,
		"json.match_schema": `json.match_schema({}, {"allOf": [{"$ref": "#"}]})`, "json.match_schema of elsewhere": `json.match_schema({}, {"$ref": "` + site + `"})`, "strings.render_template": `strings.render_template("{{range .}}{{end}}", {})`,
	} {
		out[name] = "x_ := " + call
	}
	return out
}

// refusedTree compares a tree with all demands of a reload. The program must live, refuse the tree
// with its reason, and do so soon.
func (r *refusals) refusedTree(name, tree string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.w.cmd.Path, "policy", "check", tree)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	switch text := out.String(); {
	case !errors.As(err, &exit):
		r.fault("tree with %s: it was taken (%v): %.300s", name, err, text)
	case exit.ExitCode() < 0 || strings.Contains(text, "goroutine ") || strings.Contains(text, "fatal error"):
		r.fault("tree with %s ends the process: %s: %.300s", name, exit, text)
	case strings.TrimSpace(text) == "":
		r.fault("tree with %s: no reason", name)
	}
}
