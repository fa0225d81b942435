package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/portcullis-authz/portcullis/policies/limits"
	"github.com/portcullis-authz/portcullis/resources"
)

// Rules of the tree that explain an answer. A tree may lack each of them.
const (
	ruleConditions = "data.authz.conditions"
	ruleMet        = "data.authz.met"
	ruleDeny       = "data.authz.deny"
	ruleTold       = "data.authz.told"
	rulePublic     = "data.authz.public_reasons"
	ruleGranting   = "data.authz.granting_role"
)

// codeDenyRule is the code of the denial by a deny rule, and what data.authz.told says of all of them.
const codeDenyRule = "deny_rule"

// Explained is what the tree says of a question beside its verdict.
type Explained struct {
	// Conditions are those of data.authz.conditions, by name.
	Conditions []resources.Condition
	// Denies are the deny rules that fire, by place.
	Denies []resources.PolicyRule
	// Told are the names of conditions that the user in question may see. PublicDenies are the reasons of deny rules for
	// them; AllDenies says that they may see all reasons of deny rules.
	Told         map[string]bool
	PublicDenies map[string]bool
	AllDenies    bool
}

// Suppose judges a question whose facts are made up. It is Decide without the cache of verdicts, so that what is
// supposed takes no room from what is asked.
func (p *Pinned) Suppose(ctx context.Context, q resources.Question) (d resources.Decision, err error) {
	if q.Facts.Subject != nil && q.Facts.Subject.AccountID != q.AccountID {
		return d, unavailable(&failed{FailureFacts, errOtherAccount})
	}
	if d, denied := p.set.Unlisted(q.Action); denied {
		return d, nil
	}
	err = p.enter(ctx, q.AccountID, func(set *Set) (err error) {
		d, err = set.Judge(ctx, EntryDecision, q, p.engine.opts.Deadline)
		return err
	})
	if err != nil {
		return resources.Decision{}, err
	}
	return d, nil
}

// enter waits at the gate and runs do. Every failure is of KindUnavailable.
func (p *Pinned) enter(ctx context.Context, account string, do func(*Set) error) (err error) {
	p.judged++
	if err := p.engine.opts.Gate.Enter(ctx, account); err != nil {
		return err
	}
	defer p.engine.opts.Gate.Leave()
	defer func() {
		if r := recover(); r != nil {
			err = unavailable(panicked("explanation", r))
		}
	}()
	return unavailable(do(p.set))
}

func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return resources.Unavailable("The decision could not be explained.", err)
}

// Explain says what speaks for and against a question, beside its verdict. Its error is of KindUnavailable.
func (p *Pinned) Explain(ctx context.Context, q resources.Question) (e Explained, err error) {
	err = p.enter(ctx, q.AccountID, func(set *Set) (err error) {
		e, err = set.explain(ctx, &q, p.engine.opts.Deadline)
		return err
	})
	if err != nil {
		return Explained{}, err
	}
	return e, nil
}

// Granted evaluates whether the tree finds a role with a grant of the action. defined is false if the tree has no rule
// for it.
func (p *Pinned) Granted(ctx context.Context, q resources.Question) (granted, defined bool, err error) {
	err = p.enter(ctx, q.AccountID, func(set *Set) error {
		defined = set.has(ruleGranting)
		value, err := set.explaining(ctx, ruleGranting, &q, p.engine.opts.Deadline)
		granted = value != nil
		return err
	})
	return granted && err == nil, defined, err
}

// Roles returns the system roles, by id.
func (p *Pinned) Roles() []resources.Role { return p.set.Roles() }

// ConditionAt returns the place of a condition's rule in the tree, "" for an unknown place.
func (p *Pinned) ConditionAt(name string) string {
	for _, rule := range p.set.rules(ruleMet) {
		if key := rule.Head.Key; key != nil && key.Equal(ast.StringTerm(name)) {
			return place(rule)
		}
	}
	return ""
}

// GrantingAt returns the place of the rule for roles that grant an action, or of the decision. For an unlisted action of a
// strict tree it returns the place of the list.
func (p *Pinned) GrantingAt(a resources.Action) string {
	set := p.set
	if set.tree.Strict && !set.listed[a.ID] {
		return "actions/data.json"
	}
	for _, name := range []string{ruleGranting, EntryDecision} {
		if rules := set.rules(name); len(rules) > 0 {
			return place(rules[0])
		}
	}
	return ""
}

// rules returns those of that name and below it, by place.
func (s *Set) rules(name string) []*ast.Rule {
	rules := slices.Clone(s.tree.Compiler.GetRulesWithPrefix(ast.MustParseRef(name)))
	slices.SortFunc(rules, func(a, b *ast.Rule) int {
		return cmp.Or(cmp.Compare(a.Location.File, b.Location.File), cmp.Compare(a.Location.Row, b.Location.Row))
	})
	return rules
}

func place(rule *ast.Rule) string { return fmt.Sprintf("%s:%d", rule.Location.File, rule.Location.Row) }

// explain evaluates the conditions of a question, its denies, and the public names of both.
func (s *Set) explain(ctx context.Context, q *resources.Question, limit time.Duration) (e Explained, err error) {
	e.Told, e.PublicDenies = map[string]bool{}, map[string]bool{}
	if e.Conditions, err = s.conditions(ctx, q, limit); err != nil {
		return e, err
	}
	if e.Denies, err = s.denies(ctx, q, limit); err != nil {
		return e, err
	}
	names, err := s.explaining(ctx, ruleTold, q, limit)
	if err != nil {
		return e, err
	}
	members(names, func(member *ast.Term) {
		if name, ok := member.Value.(ast.String); ok {
			e.Told[string(name)] = true
		}
	})
	e.AllDenies = e.Told[codeDenyRule]
	public, err := s.explaining(ctx, rulePublic, q, limit)
	if err != nil {
		return e, err
	}
	members(public, func(member *ast.Term) {
		pair, ok := member.Value.(*ast.Array)
		if !ok || pair.Len() != 2 || !pair.Elem(1).Equal(ast.StringTerm(codeDenyRule)) {
			return
		}
		if reason, ok := pair.Elem(0).Value.(ast.String); ok {
			e.PublicDenies[string(reason)] = true
		}
	})
	return e, nil
}

// members calls fn with each member of a set. Any other value has none.
func members(value ast.Value, fn func(*ast.Term)) {
	if set, ok := value.(ast.Set); ok {
		set.Foreach(fn)
	}
}

// conditions reads data.authz.conditions: an object of {"holds": boolean, "says": string} by their names. It skips members of
// another form.
func (s *Set) conditions(ctx context.Context, q *resources.Question, limit time.Duration) (out []resources.Condition, err error) {
	value, err := s.explaining(ctx, ruleConditions, q, limit)
	byName, ok := value.(ast.Object)
	if !ok {
		return nil, err
	}
	byName.Foreach(func(key, value *ast.Term) {
		name, named := key.Value.(ast.String)
		object, ok := value.Value.(ast.Object)
		if !named || !ok {
			return
		}
		holds, holdsOK := valueAt[ast.Boolean](object, "holds")
		says, saysOK := valueAt[ast.String](object, "says")
		if holdsOK && saysOK {
			out = append(out, resources.Condition{Name: string(name), Holds: bool(holds), Says: string(says)})
		}
	})
	slices.SortFunc(out, func(a, b resources.Condition) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// denies asks each rule of data.authz.deny by itself, to know the place of each.
func (s *Set) denies(ctx context.Context, q *resources.Question, limit time.Duration) (out []resources.PolicyRule, err error) {
	for _, rule := range s.rules(ruleDeny) {
		says := rule.Head.Key
		if says == nil {
			says = rule.Head.Value
		}
		values, err := s.each(ctx, "explanation", rule.Body, says, InputOf(q), q.Now, limit)
		if err != nil {
			return nil, err
		}
		for _, t := range values.Slice() {
			reason := "a reason that is too large"
			if text, ok := t.Value.(ast.String); ok {
				reason = string(text)
			} else if !limits.Larger(t.Value, maxReason) {
				reason = t.Value.String()
			}
			out = append(out, resources.PolicyRule{Reason: reason, At: place(rule)})
		}
	}
	return slices.Compact(out), nil
}

// explaining returns the value of a rule for a question, nil if it is undefined.
func (s *Set) explaining(ctx context.Context, rule string, q *resources.Question, limit time.Duration) (ast.Value, error) {
	return s.value(ctx, evaluation{name: rule, input: InputOf(q), now: q.Now, limit: limit, memory: limits.OfQuestion})
}

// result is the variable of each's values. No rule of a tree can have one of that name.
const result = ast.Var("result:")

// each returns the values of a term for all results of the body, sorted.
func (s *Set) each(
	ctx context.Context, name string, body ast.Body, term, input *ast.Term, now resources.Time, limit time.Duration,
) (ast.Set, error) {
	values := ast.NewSet()
	err := s.run(ctx, evaluation{
		name: name, body: append(slices.Clone(body), ast.Equality.Expr(ast.NewTerm(result), term)),
		input: input, now: now, limit: limit, memory: limits.OfQuestion,
		each: func(r topdown.QueryResult) error {
			values.Add(r[result])
			return nil
		},
	})
	return values, err
}
