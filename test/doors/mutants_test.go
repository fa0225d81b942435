package doors_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/test/overlay"
)

// mutant is the program without a defence of its doors; the corpus or the faults that they may not have find it
// out.
type mutant struct {
	name  string
	edits []overlay.Edit
}

func mutants() []mutant {
	const proxy, answers, named, page = "gateway/original.go", "gateway/doors/authzen/door.go", "gateway/doors/door.go", "gateway/doors/authzen/page.go"
	const check, answer, forward = "gateway/doors/extauthz/check.go", "gateway/doors/extauthz/answer.go", "gateway/doors/forwardauth/door.go"
	const judge, enter = "gateway/verdict/judge.go", "gateway/verdict/enter.go"
	return []mutant{
		{"forged headers stay where the gateway has no value", []overlay.Edit{{File: proxy, Old: "	for _, h := range headers {\n", New: "	for _, h := range headers {\n		if h.Value == \"\" {\n			continue\n		}\n"}}},
		{"Envoy removes no forged header", []overlay.Edit{{File: answer, Old: "			ok.HeadersToRemove = append(ok.HeadersToRemove, name)\n		}", New: "			continue\n		}"}}},
		{"the host that the proxy tells is ignored", []overlay.Edit{{File: forward, Old: "	if !sent {\n		field", New: "	if field != \"\" {\n		field"}}},
		{"any audience is signed for", []overlay.Edit{{File: check, Old: "		if !validAudience(audience) {", New: "		if !validAudience(audience) && name == audience {"}, {File: check, Old: "	if name, sent := named[\"action\"]; sent {", New: "	name, sent := named[\"action\"]\n	if sent {"}}},
		{"anybody's configuration is taken", []overlay.Edit{{File: check, Old: "len(named) > 0 && !mayName(client)", New: "len(named) > 0 && client == nil"}}},
		{"the audience of the configuration is ignored", []overlay.Edit{{File: named, Old: "		row.Route.Audience = o.Audience\n", New: "		row.Route.Audience = \"another\"\n"}}},
		{"Envoy is told OK beside an error", []overlay.Edit{{File: check, Old: "	if err != nil {\n		return denied(", New: "	if err != nil && v.RequestID == \"\" {\n		return denied("}}},
		{"a claim that is wrong is taken", []overlay.Edit{{File: proxy, Old: "sent && claimed != is.value {", New: "sent && claimed == \"\" {"}}},
		{"items of a batch are answered in another order", []overlay.Edit{{File: answers, Old: "o, account = out[0], questions[0].AccountID != \"\"\n			out, questions = out[1:], questions[1:]", New: "o, account = out[len(out)-1], questions[0].AccountID != \"\"\n			out, questions = out[:len(out)-1], questions[1:]"}}},
		{"facts of a batch are another item's", []overlay.Edit{{File: judge, Old: "account.facts[account.place(a.pair(q))]", New: "account.facts[len(account.facts)-1-account.place(a.pair(q))]"}}},
		{"a batch asks about anybody", []overlay.Edit{{File: judge, Old: "	if refused != nil {\n", New: "	if refused != nil && q.SubjectID == \"\" {\n"}}},
		{"the project of an account action is not looked at", []overlay.Edit{{File: enter, Old: "state == resources.ProjectActive {", New: "state != \"\" {"}}},
		{"pages of any caller", []overlay.Edit{{File: page, Old: "route, caller.Kind, caller.ID, entities", New: "route, entities"}}},
		{"pages of any account", []overlay.Edit{{File: page, Old: "caller.ID, entities", New: "caller.ID, len(entities)"}}},
	}
}

// TestMutantsFitTheProgram: what a mutant replaces is there, once.
func TestMutantsFitTheProgram(t *testing.T) {
	for _, m := range mutants() {
		overlay.NewBuilder("../..", t.TempDir()).Fits(t, m.name, m.edits...)
	}
}
