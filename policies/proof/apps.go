package proof

import (
	"context"
	"encoding/json"
	"path"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// appsFolder has a folder for each app.
const appsFolder = "apps"

// checkApps reports apps without the rules types and decision, decisions of another form than one value, and decisions
// that allow by default.
func checkApps(c *ast.Compiler, apps []string, p *Problems) {
	for _, app := range apps {
		folder := path.Join(appsFolder, app)
		if len(c.GetRules(ruleOf(app, "types"))) == 0 {
			p.report(folder, 0, `there is no rule types: say about which types of resources the app decides, as types := {"document"}`)
		}
		rules := c.GetRulesExact(ruleOf(app, "decision"))
		if len(rules) == 0 {
			p.report(folder, 0, "there is no rule decision: define it; the gateway evaluates it for each question to the app")
		}
		for _, rule := range rules {
			report := func(problem string) { p.report(rule.Location.File, rule.Location.Row, "%s", problem) }
			if len(rule.Head.Args) > 0 || rule.Head.DocKind() == ast.PartialSetDoc || rule.Head.DocKind() == ast.PartialObjectDoc {
				report("decision must be a rule with one value, not a function, a partial set or a partial object")
				break
			}
			if rule.Default && allows(rule.Head.Value.Value) {
				report("decision allows by default: its default must be false, or have \"decision\": false")
			}
		}
	}
}

func ruleOf(app, rule string) ast.Ref { return ast.MustParseRef(engine.AppRules(app) + "." + rule) }

// allows says whether an app's answer is anything but a deny.
func allows(answer ast.Value) bool {
	deny := ast.Boolean(false)
	if o, ok := answer.(ast.Object); ok {
		decision := o.Get(ast.StringTerm("decision"))
		return decision == nil || decision.Value.Compare(deny) != 0
	}
	return answer.Compare(deny) != 0
}

// apps asks each app about each of its types, and about nothing at all. It reports an app that fails at a question. An
// app may allow any of them: some apps allow everybody.
func (p *prober) apps(ctx context.Context) {
	const unknown, robot = `{"type": "user", "id": "` + probeUser + `"}`, `{"type": "robot", "id": "r2", "properties": {}}`
	for _, app := range p.set.Apps() {
		rule := strings.TrimPrefix(engine.AppRules(app.Name), "data.") + ".decision"
		ask := func(name string, q resources.Question) {
			if p.reported[rule] {
				return
			}
			if _, err := p.set.JudgeApp(ctx, app.Name, q, p.limit); err != nil {
				p.reported[rule] = true
				file, row := p.place("data." + rule)
				p.problems.report(file, row, "%s has no answer to the question of %s: %v", rule, name, err)
			}
		}
		ask("nobody about nothing", resources.Question{Now: probeNow})
		for _, name := range app.Types {
			resource, _ := json.Marshal(map[string]string{"type": name, "id": "probe-v0"}) // strings
			sent := &resources.Entities{ResourceType: name, Action: []byte(`{"name": "probe"}`), Resource: resource}
			q := resources.Question{App: sent, Now: probeNow}
			sent.Subject = []byte(robot)
			ask("a subject that is no user about "+name, q)
			sent.Subject = []byte(unknown)
			ask("a user who is not known about "+name, q)
			for _, caller := range callersWithoutRights() {
				q.Principal, q.AccountID, q.Facts.Subject = caller.principal, probeAccount, caller.subject
				ask(caller.name+" about "+name, q)
			}
		}
	}
}
