package guards

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/policies/compare/diff"
	"github.com/portcullis-authz/portcullis/policies/engine"
)

// The rules of package guards that are evaluated.
const (
	pkg                = "data.guards"
	deny               = pkg + ".deny"
	removable          = "removable"
	allowNotExhaustive = "allow_not_exhaustive"
)

// comparisonTime bounds the comparison of the trees, which need not end if a rule is not a function of its input. evaluationTime
// bounds the evaluation of all guards.
const (
	comparisonTime = time.Minute
	evaluationTime = 10 * time.Second
)

// Refused are the reasons for which the guards in force refuse a change.
type Refused []string

// Error implements error: one reason a line.
func (r Refused) Error() string { return strings.Join(r, "\n") }

// Guarded says whether the tree has guards.
func Guarded(set *engine.Set) bool {
	return len(set.Compiled().Compiler.GetRulesWithPrefix(ast.MustParseRef(pkg))) > 0
}

// Check evaluates the guards of the tree in force on the change to the next tree. The error is Refused, or why the guards
// could not be evaluated, which refuses as well.
func Check(ctx context.Context, inForce, next *engine.Set) error {
	return check(ctx, inForce, next, comparisonTime, evaluationTime)
}

// Judge is Check for a caller with a comparison of the two trees. took is the duration of this comparison.
func Judge(ctx context.Context, inForce, next *engine.Set, report *diff.Report, took time.Duration) error {
	switch {
	case !Guarded(inForce):
		return nil
	case took > comparisonTime:
		return tooLong(comparisonTime)
	}
	return judge(ctx, inForce, next, report, evaluationTime)
}

// check is Check with bounds on the comparison and on the evaluation of the guards.
func check(ctx context.Context, inForce, next *engine.Set, comparison, evaluation time.Duration) error {
	if !Guarded(inForce) {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, comparison)
	defer cancel()
	report, err := diff.Compare(bounded, inForce, next, 1)
	switch {
	case err == nil:
		return judge(ctx, inForce, next, report, evaluation)
	case ctx.Err() == nil && bounded.Err() != nil:
		return tooLong(comparison)
	}
	return fmt.Errorf("guards: the trees could not be compared: %w", err)
}

// judge evaluates the guards on a comparison, within a bound.
func judge(ctx context.Context, inForce, next *engine.Set, report *diff.Report, evaluation time.Duration) error {
	removed, err := removedGuards(ctx, inForce, next)
	if err != nil {
		return fmt.Errorf("guards: %w", err)
	}
	reasons := notRemovable(ctx, inForce, removed)
	allowed := allowed(ctx, inForce)
	for _, gap := range report.NotExhaustive {
		remedy := fmt.Sprintf("guards.%s takes it with %q in it", allowNotExhaustive, gap.Place())
		switch {
		case report.Unasked:
			remedy = "write the rules so that all entry points are compared, since no guard judges one that is not"
		case allowed.Contains(ast.StringTerm(gap.Place())):
			continue
		}
		reasons = append(reasons, fmt.Sprintf("guards: the comparison is not exhaustive: %s reads %s: %s; %s", gap.At, gap.Reads, gap.LeftOut, remedy))
	}
	reasons = append(reasons, ask(ctx, inForce, report, removed, evaluation)...)
	if len(reasons) == 0 {
		return nil
	}
	slices.Sort(reasons)
	return Refused(slices.Compact(reasons))
}

// tooLong refuses a change whose comparison takes longer than the bound.
func tooLong(bound time.Duration) Refused {
	return Refused{fmt.Sprintf("guards: the comparison of the trees did not end within %s; take apart the rule that makes it long, "+
		"as one that calls time.now_ns does. `portcullis policy diff --within` compares for longer", bound)}
}

// removedGuards returns the names of guards that the other tree lacks, or has in another form. Rules that only permit may
// change.
func removedGuards(ctx context.Context, inForce, next *engine.Set) (names []string, err error) {
	removed, err := compare.Removed(ctx, inForce, next, pkg)
	for _, form := range removed {
		if form.Rule != removable && form.Rule != allowNotExhaustive {
			names = append(names, form.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// notRemovable returns the reasons against removing guards.
func notRemovable(ctx context.Context, set *engine.Set, removed []string) (reasons []string) {
	if len(removed) == 0 {
		return nil
	}
	listed, err := set.Rule(pkg+"."+removable).Value(ctx, input(nil, removed), 0, evaluationTime)
	if err != nil {
		return []string{"guards: " + removable + " can't be asked: " + err.Error()}
	}
	names, _ := listed.(ast.Set)
	for _, name := range removed {
		if names == nil || !names.Contains(ast.StringTerm(name)) {
			reasons = append(reasons, fmt.Sprintf("guards: %q is missing or changed; a reload before this one has to add it to guards.%s", name, removable))
		}
	}
	return reasons
}

// allowed returns the places, as file:rule, that a comparison may leave out.
func allowed(ctx context.Context, set *engine.Set) ast.Set {
	value, err := set.Rule(pkg+"."+allowNotExhaustive).Value(ctx, input(nil, nil), 0, evaluationTime)
	if places, ok := value.(ast.Set); ok && err == nil {
		return places
	}
	return ast.NewSet()
}

// ask evaluates the guards. It returns the reasons of those that fire, or why they could not be evaluated.
func ask(ctx context.Context, set *engine.Set, report *diff.Report, removed []string, bound time.Duration) (reasons []string) {
	if len(set.Compiled().Compiler.GetRulesExact(ast.MustParseRef(deny))) == 0 {
		return nil
	}
	value, err := set.Rule(deny).Value(ctx, input(report, removed), 0, bound)
	if err != nil {
		return []string{"guards: a guard failed: " + err.Error()}
	}
	fired, ok := value.(ast.Set)
	if !ok {
		return []string{"guards: guards.deny must be a set of reasons"}
	}
	fired.Foreach(func(reason *ast.Term) {
		text, isText := reason.Value.(ast.String)
		if !isText { // it may be of any size
			text = "a reason that is no text"
		}
		reasons = append(reasons, "guards: "+string(text))
	})
	return reasons
}

// input returns the input of the guards, the author's rules about changes of policy (policies/schemas/guards).
func input(report *diff.Report, removed []string) *ast.Term {
	if report == nil {
		report = &diff.Report{}
	}
	return ast.NewTerm(ast.MustInterfaceToValue(map[string]any{
		"new_access": rows(report.NewAccess), "lost_access": rows(report.LostAccess), "routes": append([]diff.Field{}, report.Routes...),
		"removed_guards": append([]string{}, removed...),
	}))
}

// rows returns rows of the comparison with all their members, also those that a report leaves out as empty.
func rows(all []compare.Row) []any {
	out := []any{}
	for i := range all {
		row := &all[i]
		out = append(out, map[string]any{
			"entry": row.Entry, "route": row.Route, "action": row.Action, "caller": row.Caller, "credential": row.Credential,
			"states": row.States, "role": row.Role, "place": row.Place, "old": answer(row.Old), "new": answer(row.New),
		})
	}
	return out
}

func answer(a compare.Answer) map[string]any {
	return map[string]any{"allow": a.Allow, "code": a.Code, "reason": a.Reason}
}
