package proof

import (
	"context"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

// checkEntries reports entry points without a rule.
func checkEntries(c *ast.Compiler, p *Problems) {
	for _, entry := range engine.EntryPoints() {
		if len(c.GetRulesExact(ast.MustParseRef(entry))) == 0 {
			p.add("%s: there is no such rule: define it with a default that denies; the engine evaluates it", entry)
		}
	}
}

// prober asks a set questions that every policy must deny.
type prober struct {
	set   *engine.Set
	rules *ast.Compiler
	// limit bounds each probe. It is the bound of the tests: that of a decision would reject a good tree on a busy
	// machine.
	limit time.Duration
	// reported has the entry points with a problem: the prober reports one for each.
	reported map[string]bool
	problems *Problems
}

// probe asks the three entry points questions that every policy must deny: of nobody, of an unknown user, and of the
// callers in probed.go. It reports each entry point that allows one.
func (p *prober) probe(ctx context.Context, routes []resources.Route) {
	const nobody = "nobody in particular"
	unknown, _ := resources.ParseAction(probeAction)
	user := resources.Principal{Kind: resources.PrincipalUser, ID: probeUser, UUID: "probe", Credential: resources.CredentialToken}
	stranger := &resources.Subject{AccountID: probeAccount, UserID: user.ID, UserUUID: user.UUID}
	facts := resources.Facts{Subject: stranger}
	for _, q := range []resources.Question{
		{},
		{Action: unknown},
		{Principal: user, AccountID: stranger.AccountID, Facts: facts, Action: unknown, Now: 1},
	} {
		p.question(ctx, nobody, q, engine.EntryDecision, engine.EntryAccess)
	}
	for _, q := range []resources.Question{
		{Grant: &resources.Grant{}},
		{Grant: &resources.Grant{Permissions: []string{"account:*:*"}}},
		{Principal: user, AccountID: stranger.AccountID, Facts: facts, Grant: &resources.Grant{Permissions: []string{unknown.ID}}, Now: 1},
	} {
		p.question(ctx, nobody, q, engine.EntryGrantable)
	}
	p.withoutRights(ctx)
	p.withoutScopes(ctx, routes)
	p.defaults()
}

func (p *prober) question(ctx context.Context, caller string, q resources.Question, entries ...string) {
	for _, entry := range entries {
		decision, err := p.set.Judge(ctx, entry, q, p.limit)
		p.deny(entry, caller, decision, err)
	}
}

// deny reports an entry point that allows or fails.
func (p *prober) deny(entry, caller string, decision resources.Decision, err error) {
	if p.reported[entry] || err == nil && !decision.Allowed {
		return
	}
	p.reported[entry] = true
	file, row := p.place(entry)
	name := strings.TrimPrefix(entry, "data.")
	if err != nil {
		p.problems.report(file, row, "%s has no answer to the question of %s: %v", name, caller, err)
		return
	}
	p.problems.report(file, row, "%s allows %s, which must be denied: make its default deny, and check every condition in the rules that allow", name, caller)
}

// defaults reports an entry point with a default that is not an object with "allow": false. A rule can hide the default
// from all probes.
func (p *prober) defaults() {
	for _, entry := range engine.EntryPoints() {
		for _, rule := range p.rules.GetRulesExact(ast.MustParseRef(entry)) {
			if !rule.Default {
				continue
			}
			if value, ok := rule.Head.Value.Value.(ast.Object); !ok || !denied(value) {
				p.problems.report(rule.Location.File, rule.Location.Row, `%s allows by default: its default must have "allow": false`, strings.TrimPrefix(entry, "data."))
			}
		}
	}
}

func denied(answer ast.Object) bool {
	allow := answer.Get(ast.StringTerm("allow"))
	return allow != nil && allow.Value.Compare(ast.Boolean(false)) == 0
}

// place returns the place of an entry point's default, or of its first rule.
func (p *prober) place(entry string) (file string, row int) {
	rules := p.rules.GetRulesExact(ast.MustParseRef(entry))
	loc := rules[0].Location
	for _, rule := range rules {
		if rule.Default {
			loc = rule.Location
		}
	}
	return loc.File, loc.Row
}
