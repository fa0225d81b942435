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
	const judge, named = "gateway/doors/original/judge.go", "gateway/doors/original/named.go"
	const check, answer, forward = "gateway/doors/extauthz/check.go", "gateway/doors/extauthz/answer.go", "gateway/doors/forwardauth/door.go"
	const batch, account, page = "gateway/verdict/batch.go", "gateway/verdict/batch_account.go", "gateway/doors/authzen/page.go"
	return []mutant{
		{"forged headers stay where the gateway has no value", []overlay.Edit{{File: "gateway/respond.go", Old: "	for _, h := range a.Headers {\n", New: "	for _, h := range a.Headers {\n		if h.Value == \"\" {\n			continue\n		}\n"}}},
		{"Envoy removes no forged header", []overlay.Edit{{File: answer, Old: "			ok.HeadersToRemove = append(ok.HeadersToRemove, name)\n		}", New: "			continue\n		}"}}},
		{"the host that the proxy tells is ignored", []overlay.Edit{{File: forward, Old: "	if !sent {\n		field", New: "	if field != \"\" {\n		field"}}},
		{"any audience is signed for", []overlay.Edit{{File: check, Old: "		if !validAudience(audience) {", New: "		if !validAudience(audience) && name == audience {"}, {File: check, Old: "	if name, sent := named[\"action\"]; sent {", New: "	name, sent := named[\"action\"]\n	if sent {"}}},
		{"anybody's configuration is taken", []overlay.Edit{{File: check, Old: "len(named) > 0 && !mayName(from)", New: "len(named) > 0 && from == nil"}}},
		{"the audience of the configuration is ignored", []overlay.Edit{{File: named, Old: "	of.Row.Audience = q.Named.Audience\n", New: "	of.Row.Audience = \"another\"\n"}}},
		{"Envoy is told OK beside an error", []overlay.Edit{{File: check, Old: "	if err != nil {\n		return denied(", New: "	if err != nil && requestID == \"\" {\n		return denied("}}},
		{"a claim that is wrong is taken", []overlay.Edit{{File: judge, Old: "sent && claimed != is.value {", New: "sent && claimed == \"\" {"}}},
		{"items of a batch are answered in another order", []overlay.Edit{{File: batch, Old: "in.ask(ctx, &items[i], of.place)", New: "in.ask(ctx, &items[len(items)-1-i], of.place)"}}},
		{"facts of a batch are another item's", []overlay.Edit{{File: account, Old: "in.facts[place],\n", New: "in.facts[len(in.facts)-1-place],\n"}}},
		{"a batch asks about anybody", []overlay.Edit{{File: account, Old: "; no != nil {\n", New: "; no != nil && item.SubjectID == \"\" {\n"}}},
		{"the project of an account action is not looked at", []overlay.Edit{{File: "gateway/verdict/route.go", Old: "state == resources.ProjectActive {", New: "state != \"\" {"}}},
		{"pages of any caller", []overlay.Edit{{File: page, Old: "route, caller.Kind, caller.ID, p.limit, entities", New: "route, p.limit, entities"}}},
		{"pages of any account", []overlay.Edit{{File: page, Old: "caller.ID, p.limit, entities", New: "caller.ID, p.limit, len(entities)"}}},
	}
}

// TestMutantsFitTheProgram: what a mutant replaces is there, once.
func TestMutantsFitTheProgram(t *testing.T) {
	for _, m := range mutants() {
		overlay.NewBuilder("../..", t.TempDir()).Fits(t, m.name, m.edits...)
	}
}
