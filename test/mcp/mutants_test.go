package mcp_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/test/overlay"
)

// mutant is the program without one of the factors of an agent's call.
type mutant struct {
	name  string
	edits []overlay.Edit
}

func mutants() []mutant {
	const agent, judge, post = "resources/agent.go", "gateway/verdict/judge.go", "gateway/doors/mcp/post.go"
	return []mutant{
		{"the user needs no role", []overlay.Edit{{File: judge, Old: "	if o.Allowed && asked.Agent != nil {\n", New: "	if asked.Agent != nil {\n		o.Allowed = true\n"}}},
		{"the agent needs no role", []overlay.Edit{{File: judge, Old: "	if !agent.Allowed {\n", New: "	if !agent.Allowed && o.PolicyRevision == \"\" {\n"}}},
		{"an unknown agent is its user", []overlay.Edit{{File: agent, Old: "	if a.Any && a.Consented && q.Facts.Agent != nil && !out.Exists {\n", New: "	if q.Facts.Agent != nil && !out.Exists {\n"}}},
		{"a suspended agent is active", []overlay.Edit{
			{File: agent, Old: "s.UserID, s.UserExists, s.UserStatus\n", New: "s.UserID, s.UserExists, StatusActive\n"},
			{File: judge, Old: "	agent := a.decide(ctx, &q)\n", New: "	if q.Facts.Subject != nil {\n		active := *q.Facts.Subject\n		active.UserStatus, q.Facts.Subject = resources.StatusActive, &active\n	}\n	agent := a.decide(ctx, &q)\n"},
		}},
		{"a delegation covers all", []overlay.Edit{{File: agent, Old: "	out.Covered = a.Consented || ", New: "	out.Covered = true || "}}},
		{"a delegation covers each project", []overlay.Edit{{File: agent, Old: " || d.ProjectID != \"\" && d.ProjectID != target.ProjectID {", New: " {"}}},
		{"a token needs no scope", []overlay.Edit{{File: post, Old: "len(scopes) > 0 {\n		a.Scopes", New: "len(scopes) > 1 {\n		a.Scopes"}}},
		{"a definition may change", []overlay.Edit{{File: post, Old: "		case is != r.definition:\n", New: "		case is == \"\":\n"}}},
	}
}

// TestMutantsFitTheProgram guarantees one place in the program for each edit of a mutant.
func TestMutantsFitTheProgram(t *testing.T) {
	for _, m := range mutants() {
		overlay.NewBuilder("../..", t.TempDir()).Fits(t, m.name, m.edits...)
	}
}
