package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/portcullis-authz/portcullis/policies/arguments"
	"github.com/portcullis-authz/portcullis/resources"
)

// entryArguments is how evaluations of rules over arguments are counted.
const entryArguments = "arguments"

// toolRules are what a tree has about the arguments of an MCP server's tools.
type toolRules struct {
	query   *query                       // nil without rules
	schemas map[string]*arguments.Schema // by tool
}

// ToolRules returns the package of the rules over the arguments of an MCP server's tools.
func ToolRules(server string) string {
	return ast.Ref{ast.DefaultRootDocument, ast.StringTerm("tools"), ast.StringTerm(server)}.String()
}

// newTools compiles the schemas of all tools.
func (s *Set) newTools() (map[string]*toolRules, error) {
	out := map[string]*toolRules{}
	for name, server := range s.tree.Servers {
		t := &toolRules{schemas: map[string]*arguments.Schema{}}
		for tool, row := range server.Tools {
			if row.InputSchema == nil {
				continue
			}
			schema, err := arguments.Compile(row.InputSchema)
			if err != nil {
				return nil, fmt.Errorf("mcp/%s: the schema of the tool %s %w", name, tool, err)
			}
			t.schemas[tool] = schema
		}
		if deny := ToolRules(name) + ".deny"; s.has(deny) {
			t.query = newQuery(deny)
		}
		out[name] = t
	}
	return out, nil
}

// Arguments judges the arguments of a call: first by the schema of the tool, then by the rules of its server. An error
// comes with a verdict that denies. It is of KindUnavailable if the gate is full. No error quotes an argument.
func (p *Pinned) Arguments(ctx context.Context, call *resources.ToolCall) (v resources.ArgumentsVerdict, err error) {
	e, started := p.engine, time.Time{}
	defer func() {
		if r := recover(); r != nil { // its text can be an argument's
			err = &failed{FailurePanic, errors.New("panic")}
		}
		if err != nil {
			v = resources.ArgumentsVerdict{}
		}
		if !started.IsZero() {
			_, _ = e.finish(entryArguments, started, resources.Decision{}, err)
		}
	}()
	rules := p.set.tools[call.Server]
	if server := p.set.MCPServer(call.Server); server == nil || server.Tools[call.Tool].Action == "" {
		return v, &failed{FailureFacts, fmt.Errorf("the tree has no tool %q of the MCP server %q", call.Tool, call.Server)}
	}
	schema := rules.schemas[call.Tool]
	if rules.query == nil && schema == nil {
		return resources.ArgumentsVerdict{Allowed: true}, nil
	}
	if err = e.opts.Gate.Enter(ctx, call.AccountID); err != nil {
		return v, err
	}
	defer e.opts.Gate.Leave()
	started = time.Now()
	return p.set.judgeArguments(ctx, rules, call, e.opts.Deadline)
}

// judgeArguments judges all readings of the arguments. One that is denied denies, since rules only deny. The limit is
// that of all readings together.
func (s *Set) judgeArguments(ctx context.Context, rules *toolRules, call *resources.ToolCall, limit time.Duration) (v resources.ArgumentsVerdict, err error) {
	readings, problems := arguments.Decode(call.Arguments)
	if problems != nil {
		v.Problems = problems
		return v, nil
	}
	ends := time.Now().Add(limit)
	for i, members := range readings {
		if i > 0 {
			limit = time.Until(ends)
		}
		if v, err = s.judgeReading(ctx, rules, call, members, limit); err != nil || !v.Allowed {
			return v, err
		}
	}
	return v, nil
}

// judgeReading judges by the schema, and then by the rules.
func (s *Set) judgeReading(ctx context.Context, rules *toolRules, call *resources.ToolCall, members map[string]any, limit time.Duration) (v resources.ArgumentsVerdict, err error) {
	if schema := rules.schemas[call.Tool]; schema != nil {
		v.Problems = schema.Problems(members)
	}
	if v.Problems == nil && rules.query != nil {
		v.Problems = arguments.Twins(members)
	}
	if v.Problems != nil || rules.query == nil {
		v.Allowed = v.Problems == nil
		return v, nil
	}
	sent, err := ast.InterfaceToValue(members)
	if err != nil {
		return v, &failed{FailureFacts, errors.New("the arguments are not JSON")}
	}
	denied, err := s.answer(ctx, rules.query, toolInput(call, sent), call.Now, limit)
	if err != nil {
		return v, withoutValues(rules.query.name, err)
	}
	if v.Reasons, err = readReasons(rules.query.name, denied); err != nil {
		return v, err
	}
	v.Allowed = len(v.Reasons) == 0
	return v, nil
}

// toolInput returns the input of rules over arguments (policies/schemas/tools).
func toolInput(call *resources.ToolCall, sent ast.Value) *ast.Term {
	id := func(id string) [2]*ast.Term { return field("id", ast.StringTerm(id)) }
	return ast.ObjectTerm(
		field("user", ast.ObjectTerm(id(call.UserID))),
		field("agent", ast.ObjectTerm(field("named", ast.InternedTerm(call.Acts)), id(call.AgentID))),
		field("account", ast.ObjectTerm(id(call.AccountID))),
		field("target", ast.ObjectTerm(field("project", ast.StringTerm(call.ProjectID)))),
		field("tool", ast.StringTerm(call.Tool)),
		field("arguments", ast.NewTerm(sent)),
		field("now", ast.NewTerm(ast.Number(fmt.Sprint(int64(call.Now))))),
	)
}

// readReasons takes a set of strings of at most maxReason bytes in all, and nothing else.
func readReasons(rule string, denied *ast.Term) (reasons []string, err error) {
	if denied == nil {
		return nil, &failed{FailureUndefined, fmt.Errorf("%s is undefined", rule)}
	}
	set, ok := denied.Value.(ast.Set)
	if !ok {
		return nil, &failed{FailureIllTyped, fmt.Errorf("%s must be a set of strings", rule)}
	}
	size := 0
	err = set.Iter(func(t *ast.Term) error {
		text, ok := t.Value.(ast.String)
		if size += len(text); !ok || size > maxReason {
			return &failed{FailureIllTyped, fmt.Errorf("%s must be a set of strings of at most %d bytes in all", rule, maxReason)}
		}
		reasons = append(reasons, string(text))
		return nil
	})
	return reasons, err
}

// withoutValues returns the failure of an evaluation with its place alone: errors of built-ins quote their operands.
func withoutValues(rule string, err error) error {
	place := ""
	if inRule, ok := errors.AsType[*topdown.Error](err); ok && inRule.Location != nil {
		place = fmt.Sprintf(" at %s:%d", inRule.Location.File, inRule.Location.Row)
	}
	return &failed{FailureOf(err), fmt.Errorf("%s failed%s", rule, place)}
}
