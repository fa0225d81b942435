package engine

import (
	"context"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"

	"github.com/portcullis-authz/portcullis/resources"
)

// checkEntries wants every entry point to be there.
func checkEntries(c *ast.Compiler, p *Problems) {
	for _, entry := range entries() {
		if len(c.GetRulesExact(ast.MustParseRef(entry))) == 0 {
			p.add("%s: there is no such rule; the engine asks it", entry)
		}
	}
}

// probe asks the three entry points what must be denied whatever the policy says:
// the questions of nobody, and of a user of whom nothing good is known.
func probe(ctx context.Context, s *Set, opts LoadOptions, p *Problems) {
	unknown := resources.Action{ID: "project:nothing:probe", Scope: "project", Resource: "nothing", Verb: "probe"}
	user := resources.Principal{Kind: resources.PrincipalUser, ID: "user-probe-v1", UUID: "probe", Credential: resources.CredentialToken}
	stranger := &resources.Subject{AccountID: "acct-probe-v1", UserID: user.ID, UserUUID: user.UUID}
	facts := resources.Facts{Subject: stranger}
	for _, q := range []resources.Question{
		{},
		{Action: unknown},
		{Principal: user, AccountID: stranger.AccountID, Facts: facts, Action: unknown, Now: 1},
	} {
		var a asked
		a.question(&q)
		denies(ctx, s, opts, entryDecision, s.input(&a), p)
		denies(ctx, s, opts, entryAccess, s.input(&a), p)
	}
	for _, g := range []resources.Grant{
		{},
		{Permissions: []string{"account:*:*"}},
		{Principal: user, AccountID: stranger.AccountID, Facts: facts, Permissions: []string{unknown.ID}, Now: 1},
	} {
		var a asked
		a.grant(&g)
		denies(ctx, s, opts, entryGrantable, s.input(&a), p)
	}
}

func denies(ctx context.Context, s *Set, opts LoadOptions, entry string, input *ast.Term, p *Problems) {
	rules := s.compiler.GetRulesExact(ast.MustParseRef(entry))
	file, row := rules[0].Location.File, rules[0].Location.Row
	for _, rule := range rules {
		if rule.Default {
			file, row = rule.Location.File, rule.Location.Row
		}
	}
	name := strings.TrimPrefix(entry, "data.")
	// The tests' bound, not that of a decision: this is no measurement of a busy machine.
	decision, err := s.evaluate(ctx, entry, input, opts.TestsWithin, 1)
	switch {
	case err != nil:
		p.at(file, row, "%s has no answer to a question without facts: %v", name, err)
	case decision.Allowed:
		p.at(file, row, "%s allows nobody in particular: a question without facts must be denied, so its default must deny", name)
	}
}

// readable gives the data in a form that many goroutines may read at once.
func readable(ctx context.Context, store storage.Store, txn storage.Transaction) (ast.Value, error) {
	root, err := store.Read(ctx, txn, storage.RootPath)
	if err != nil {
		return nil, err
	}
	v, ok := root.(ast.Value)
	if ok {
		settle(v)
	}
	return v, nil
}
