package attacks_test

import (
	"fmt"
	"strings"
	"time"
)

// argumentAttacks are questions about a call of an MCP tool whose arguments have two readings, no end or no tool. The gateway
// judges none of them. It judges large arguments in time, and writes no value of theirs to a log.
func argumentAttacks(w *attacksWorld, r *refusals) {
	secret := word(24)
	w.marks.add("an argument", secret)
	value := `"` + secret + `"`
	ask := func(name, path, body string, want ...int) answer {
		a := r.decided("arguments: "+name, request("POST", "/access/v1/"+path, body, bearer(w.checker)))
		for _, status := range want {
			if a.Status == status && (status != 200 || !strings.Contains(a.Body, `"decision":true`)) {
				return a
			}
		}
		r.fault("arguments: %s: %d %.300s, want %v", name, a.Status, a.Body, want)
		return a
	}
	batches := map[string]string{}
	r.unjudged("arguments", func() {
		for name, arguments := range map[string]string{
			"null": `null`, "a text": value, "a number": `1`, "a list": `[{"q":` + value + `}]`, "true": `true`, "a text of JSON": `"{}"`,
			"twice": `{"q":"a","q":` + value + `}`, "twice by an escape": `{"q":"a","\u0071":` + value + `}`, "twice inside": `{"a":[{"q":1,"q":` + value + `}]}`,
			"deep": `{"q":` + strings.Repeat(`{"a":`, 40) + value + strings.Repeat("}", 40) + `}`, "deep lists": `{"q":` + strings.Repeat("[", 40) + value + strings.Repeat("]", 40) + `}`,
			"NUL": `{"q":"\u0000` + secret + `"}`, "half a character": `{"q":"\ud800` + secret + `"}`, "no UTF-8": "{\"q\":\"\xff" + secret + "\"}", "a line": "{\"q\":\"\n" + secret + "\"}",
			"octal": `{"q":01,"s":` + value + `}`, "hexadecimal": `{"q":0x1}`, "not a number": `{"q":NaN}`, "without end": `{"q":Infinity}`, "a plus": `{"q":+1}`, "a comma": `{"q":` + value + `,}`, "cut": `{"q":` + value,
			"a second one": `{"q":"a"},"arguments":{"q":` + value + `}`, "too large": `{"q":"` + strings.Repeat(secret, 50_000) + `"}`,
		} {
			for _, resource := range []string{
				`"resource":{"type":"tool","id":"check","properties":{"server":"portcullis","account_id":"` + w.tenant.account + `"}}`,
				`"action":{"name":"tools/check"},"resource":{"type":"mcp_server","id":"portcullis","properties":{"account_id":"` + w.tenant.account + `"}}`,
			} {
				ask(name, "evaluation", w.toolQuestion(resource, arguments), 400, 413)
			}
		}
		project := fmt.Sprintf(`"resource":{"type":"project","id":%q,"properties":{"account_id":%q}}`, w.tenant.project, w.tenant.account)
		for name, resource := range map[string]string{
			"a project": `"action":{"name":"project:instance:read"},` + project,
			"a path":    `"action":{"name":"project:instance:read"},"resource":{"type":"path","id":"accounts/` + w.tenant.account + `/projects/` + w.tenant.project + `"}`,
			"a route":   `"action":{"name":"GET"},"resource":{"type":"route","id":"/api/v1/accounts/` + w.tenant.account + `/roles"}`,
			"a prompt":  `"resource":{"type":"prompt","id":"check","properties":{"server":"portcullis"}}`,
			"a file":    `"resource":{"type":"resource","id":"repo://a/b","properties":{"server":"portcullis"}}`,
			"a server":  `"action":{"name":"prompts/check"},"resource":{"type":"mcp_server","id":"portcullis"}`,
			"tools":     `"action":{"name":"tools"},"resource":{"type":"mcp_server","id":"portcullis"}`,
		} {
			ask("of "+name, "evaluation", w.toolQuestion(resource, `{"q":`+value+`}`), 400)
			batches["of "+name+" in a batch"] = strings.TrimSuffix(w.toolQuestion(resource, `{"q":`+value+`}`), "}") + `,"evaluations":[{},{"context":{"arguments":null}}]}`
		}
		server := `"resource":{"type":"mcp_server","id":"portcullis","properties":{"account_id":"` + w.tenant.account + `"}}`
		tool := strings.Replace(server, `"mcp_server","id":"portcullis","properties":{`, `"tool","id":"check","properties":{"server":"portcullis",`, 1)
		for name, search := range map[string]string{"search/action": server, "search/subject": tool, "search/resource": tool} {
			ask("of "+name, name, w.toolQuestion(search, `{"q":`+value+`}`), 400)
		}
	})
	for name, body := range batches { // a batch looks for its accounts first, by policy
		if a := ask(name, "evaluations", body, 200); strings.Count(a.Body, `"status":400`) != 2 {
			r.fault("arguments: %s: %.300s", name, a.Body)
		}
	}
	began := time.Now()
	for name, arguments := range map[string]string{
		"long":            `{"q":"` + strings.Repeat(secret, 20_000) + `"}`,
		"many":            `{"q":[` + strings.Repeat(`0,`, 200_000) + value + `]}`,
		"a long number":   `{"q":` + strings.Repeat("9", 400_000) + `,"s":` + value + `}`,
		"a large number":  `{"q":1e999999999,"s":` + value + `}`,
		"a small number":  `{"q":1e-999999999,"s":` + value + `}`,
		"of a prototype":  `{"__proto__":{"admin":true},"constructor":` + value + `}`,
		"of a stranger's": `{"account_id":"` + w.foreign.account + `","agent":` + value + `}`,
	} {
		resource := `"resource":{"type":"tool","id":"none","properties":{"server":"portcullis","account_id":"` + w.tenant.account + `"}}`
		if a := ask(name, "evaluation", w.toolQuestion(resource, arguments), 200, 400); a.Status == 200 && !strings.Contains(a.Body, "no active role of the user lets them use the tool") {
			r.fault("arguments: %s: %.300s", name, a.Body)
		}
	}
	if took := time.Since(began); took > 20*time.Second {
		r.fault("arguments: large ones take %s", took)
	}
}

// toolQuestion is a body of AuthZEN about the admin, whose context has arguments.
func (w *attacksWorld) toolQuestion(resource, arguments string) string {
	return `{"subject":{"type":"user","id":"` + w.tenant.admin + `"},` + resource + `,"context":{"arguments":` + arguments + `}}`
}
