package proof

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/limits"
)

// Problems are the reasons to reject a tree, one a line, each with file:line if it has a place.
type Problems []string

// Error implements error: one problem a line.
func (p Problems) Error() string { return strings.Join(p, "\n") }

func (p *Problems) add(format string, args ...any) {
	*p = append(*p, policies.Problem(format, args...))
}

// report adds a problem with its place; line 0 is the file as a whole.
func (p *Problems) report(file string, line int, format string, args ...any) {
	place := file
	if line > 0 {
		place += ":" + strconv.Itoa(line)
	}
	p.add("%s: %s", place, fmt.Sprintf(format, args...))
}

// atLocation adds a problem at a place in a module.
func (p *Problems) atLocation(loc *ast.Location, problem string) {
	p.report(loc.File, loc.Row, "%s", problem)
}

// compiler adds the errors of OPA's parser or compiler.
func (p *Problems) compiler(err error) {
	list, isList := errors.AsType[ast.Errors](err)
	if one, ok := errors.AsType[*ast.Error](err); ok && !isList {
		list, isList = ast.Errors{one}, true
	}
	if !isList {
		p.add("%v", err)
		return
	}
	for _, e := range list {
		p.add("%s", compilerLine(e))
	}
}

// err returns the problems as policies.Listed has them; nil if there are none.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return Problems(policies.Listed(p))
}

// compilerLine returns an error of OPA's compiler in one line, with its place.
func compilerLine(e *ast.Error) string {
	parts := []string{e.Code + ": " + e.Message}
	if why := limits.WhyRefused(e.Message); why != "" {
		parts = append(parts, why)
	}
	if e.Details != nil {
		for _, line := range e.Details.Lines() {
			if line = strings.TrimSpace(line); line != "" && strings.Trim(line, "^") != "" {
				parts = append(parts, line)
			}
		}
	}
	text := strings.Join(parts, "; ")
	if e.Location == nil || e.Location.File == "" {
		return text
	}
	if e.Location.Row == 0 { // the file as a whole
		return e.Location.File + ": " + text
	}
	return e.Location.File + ":" + strconv.Itoa(e.Location.Row) + ": " + text
}
