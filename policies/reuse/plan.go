package reuse

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/resources"
)

// Plan says which values tell the questions to one entry point apart: those that its rules can read. Other rules
// count for other kinds of principals; the kind is a part of the key wherever that makes a difference, the first one.
type Plan struct {
	// Entry is the number of the entry point, a part of the key.
	Entry int
	// ByKind are the values by the principal's kind; Values are those for any other kind.
	ByKind map[string][]Value
	Values []Value
}

// kinds returns the kinds of principals for which keys are planned apart.
func kinds() []string {
	return []string{resources.PrincipalUser, resources.PrincipalService, resources.PrincipalNone}
}

// NewPlan returns the plan of an entry point, a rule of the compiled tree. It is nil where no verdict may be reused.
// The rules must call built-ins by OPA's own names.
func NewPlan(c *ast.Compiler, rule string, entry int) *Plan {
	paths, ok := inputsOf(reachable(c, rule))
	if !ok || slices.ContainsFunc(paths, readsTime) {
		return nil
	}
	plan := &Plan{Entry: entry, Values: valuesAt(paths), ByKind: map[string][]Value{}}
	for _, kind := range kinds() {
		paths, _ := inputsOf(branchesFor(c, rule, kind))
		plan.ByKind[kind] = valuesAt(paths)
	}
	return plan
}

func (p *Plan) values(kind string) []Value {
	if values, known := p.ByKind[kind]; known {
		return values
	}
	return p.Values
}

// Reads says whether the verdict of a question by a principal of the kind may depend on the value.
func (p *Plan) Reads(kind string, v Value) bool {
	return p == nil || slices.Contains(p.values(kind), v)
}

// Key appends what names the question's verdict. Every part is of fixed length or comes
// after its length, so no two questions share a key. The facts are those of the subject at
// the question's time.
func (p *Plan) Key(b []byte, in *Inputs, facts *Facts) []byte {
	b = binary.AppendVarint(b, int64(p.Entry))
	for _, v := range p.values(in.texts[PrincipalKind]) {
		switch {
		case v < texts:
			b = appendText(b, in.texts[v])
		case v < lists:
			b = appendList(b, in.List(v))
		case v == GrantUntil:
			b = binary.AppendVarint(b, int64(in.Until))
		case v == SubjectFacts:
			b = append(b, facts.digest[:]...)
		case v == Period:
			b = binary.AppendVarint(b, int64(facts.period))
		case v == Here:
			at := facts.narrowest(in.Place())
			b = appendText(appendText(b, at.Project), at.Resource)
		}
	}
	return b
}

// Until returns when the verdict of an equal question may be another one: when the next assignment
// ends, where the rules can read that.
func (p *Plan) Until(in *Inputs, facts *Facts) resources.Time {
	if !slices.Contains(p.values(in.texts[PrincipalKind]), Period) {
		return Never
	}
	return facts.end()
}

// inputPath is a value of the input and the values of a question of which it is made.
type inputPath struct {
	path   string
	values []Value
}

// inputPaths returns all values of the input (policies/schemas/input) but the time. The subject's
// facts are told apart as a whole.
func inputPaths() []inputPath {
	of := func(path string, values ...Value) inputPath { return inputPath{path, values} }
	return []inputPath{
		of("action.id", ActionID), of("action.scope", ActionScope), of("action.resource", ActionResource), of("action.verb", ActionVerb),
		of("action.patterns", ActionID, ActionScope, ActionResource, ActionVerb),
		of("principal.kind", PrincipalKind), of("principal.id", PrincipalID), of("principal.uuid", PrincipalUUID),
		of("principal.account", PrincipalAccount), of("principal.credential", PrincipalCredential),
		of("principal.scopes", PrincipalScopes), of("principal.key_scopes", PrincipalKeyScopes),
		of("route.name", RouteName), of("route.effect", RouteEffect), of("route.access", RouteAccess),
		of("account", SubjectFacts, AccountNamed),
		of("subject.id", SubjectFacts), of("subject.exists", SubjectFacts), of("subject.status", SubjectFacts),
		of("subject.member", SubjectFacts), of("subject.roles", SubjectFacts), of("subject.assignments", Period, SubjectFacts),
		of("subject.here", Here, Period, SubjectFacts),
		of("target.account", TargetAccount), of("target.project", TargetProject), of("target.project_state", TargetProjectState),
		of("target.resource", TargetResource), of("target.rest", TargetRest), of("target.user", TargetUser),
		of("grant.permissions", GrantPermissions), of("grant.until", GrantUntil),
	}
}

// readsTime says whether a path is that of the time, or of the whole input, which has the time in it.
func readsTime(path string) bool { return path == "" || within(path, "now") }

// valuesAt returns the values of which the input's values at the paths are made.
func valuesAt(paths []string) (values []Value) {
	var read [allValues]bool
	for _, known := range inputPaths() {
		for _, path := range paths {
			if within(path, known.path) || within(known.path, path) {
				for _, v := range known.values {
					read[v] = true
				}
			}
		}
	}
	for v := range allValues {
		if read[v] {
			values = append(values, v)
		}
	}
	return values
}

// within says whether the value at a path is the one at the other, or below it; "" is
// the whole input.
func within(path, other string) bool {
	return other == "" || path == other || strings.HasPrefix(path, other+".")
}

func appendList(b []byte, list []string) []byte {
	b = binary.AppendVarint(b, int64(len(list)))
	for _, member := range list {
		b = appendText(b, member)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendVarint(b, int64(len(s))), s...)
}
