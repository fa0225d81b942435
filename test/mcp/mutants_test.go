package mcp_test

import (
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/test/overlay"
)

// mutant is the program without one condition of a call. The named test finds it, or the random calls of
// TestNoAgentExceedsItsUser.
type mutant struct {
	name  string
	edits []overlay.Edit
	test  string
}

func mutants() []mutant {
	return slices.Concat(mutantsOfAgents(), mutantsOfApprovals(), mutantsOfArguments(), mutantsOfTasks(), mutantsOfStreams())
}

func mutantsOfAgents() []mutant {
	const agent, judge, post = "resources/agent.go", "gateway/verdict/judge.go", "gateway/doors/mcp/post.go"
	return []mutant{
		{"the user needs no role", []overlay.Edit{{File: judge, Old: "	if o.Allowed && asked.Agent != nil {\n", New: "	if asked.Agent != nil {\n		o.Allowed = true\n"}}, ""},
		{"the agent needs no role", []overlay.Edit{{File: judge, Old: "	if !agent.Allowed {\n", New: "	if !agent.Allowed && o.PolicyRevision == \"\" {\n"}}, ""},
		{"an unknown agent is its user", []overlay.Edit{{File: agent, Old: "	if a.Any && a.Consented && q.Facts.Agent != nil && !out.Exists {\n", New: "	if q.Facts.Agent != nil && !out.Exists {\n"}}, ""},
		{"a suspended agent is active", []overlay.Edit{
			{File: agent, Old: "s.UserID, s.UserExists, s.UserStatus\n", New: "s.UserID, s.UserExists, StatusActive\n"},
			{File: judge, Old: "	agent := a.decide(ctx, &q)\n", New: "	if q.Facts.Subject != nil {\n		active := *q.Facts.Subject\n		active.UserStatus, q.Facts.Subject = resources.StatusActive, &active\n	}\n	agent := a.decide(ctx, &q)\n"},
		}, ""},
		{"a delegation covers all", []overlay.Edit{{File: agent, Old: "	out.Covered = a.Consented || ", New: "	out.Covered = true || "}}, ""},
		{"a delegation covers each project", []overlay.Edit{{File: agent, Old: " || d.ProjectID != \"\" && d.ProjectID != target.ProjectID {", New: " {"}}, ""},
		{"a token needs no scope", []overlay.Edit{{File: post, Old: "len(a.Scopes) > 0 {", New: "len(a.Scopes) > 1 {"}}, ""},
		{"a definition may change", []overlay.Edit{{File: post, Old: "		case is != r.definition:\n", New: "		case is == \"\":\n"}}, ""},
	}
}

func mutantsOfApprovals() []mutant {
	const service, call, subject, door = "resources/approvals/service.go", "store/records/approvals.go", "gateway/doors/mcp/message/subject.go", "gateway/doors/mcp/approval.go"
	const ofOne, fits, once = "TestAnApprovalIsOfOneUserServerAndAgent", "TestAnApprovalFitsNothingElse", "TestAnApprovalLetsOneCallThrough"
	const decides, anew, nothing = "TestALedUserDecidesWhileTheCallWaits", "TestAWaitingCallIsJudgedAnew", "TestAnInputApprovesNothing"
	return []mutant{
		{"a led user has approved", []overlay.Edit{{File: door, Old: `named == nil || named.approval == ""`, New: `named == nil || named.approval == "" || v.led`}}, nothing},
		{"a retry does not wait", []overlay.Edit{{File: door, Old: "input.Accepted && v.Approvals != nil {", New: "input.Accepted && v.Approvals == nil {"}}, decides},
		{"a retry is judged by the former policy", []overlay.Edit{{File: door, Old: "	anew, err := v.visit(c) // the policy may have changed\n", New: "	anew, err := v, error(nil)\n	anew.call = c\n"}}, anew},
		{"a token ends unnoticed during the wait", []overlay.Edit{{File: door, Old: "switch err := v.authenticate(waits); {", New: "switch err := error(nil); {"}}, "TestATokenThatEndsDuringTheWaitIsRefused"},
		{"a client leads its user again", []overlay.Edit{{File: door, Old: "!p.Retry && !v.led && ", New: "!p.Retry && "}}, nothing},
		{"no call needs an approval", []overlay.Edit{{File: door, Old: `named == nil || named.approval == ""`, New: `named == nil || named.approval != "never"`}}, once},
		{"a request is an approval", []overlay.Edit{{File: service, Old: "rec.Value.Status == resources.ApprovalApproved:", New: "rec.Value.Status != resources.ApprovalDenied:"}}, once},
		{"an approval is of any user", []overlay.Edit{{File: call, Old: "a.AccountID, a.UserID, ", New: "a.AccountID, "}}, ofOne},
		{"an approval is of any client", []overlay.Edit{{File: call, Old: "a.Client.Issuer, a.Client.ClientID, ", New: ""}}, fits},
		{"an approval is of any agent of the client", []overlay.Edit{{File: call, Old: "a.AgentID, ", New: ""}}, ofOne},
		{"an approval is of any server", []overlay.Edit{{File: call, Old: "a.Server, a.Place, ", New: ""}}, ofOne},
		{"an approval is of any path", []overlay.Edit{{File: call, Old: "a.Place, ", New: ""}}, fits},
		{"an approval is of any tool", []overlay.Edit{{File: call, Old: "a.Tool, ", New: ""}, {File: subject, Old: "	delete(params, \"_meta\")\n", New: "	delete(params, \"_meta\")\n	delete(params, \"name\")\n"}}, fits},
		{"an approval is of any arguments", []overlay.Edit{{File: call, Old: "a.ArgumentsHash, ", New: ""}}, fits},
		{"an approval is of any further parameters", []overlay.Edit{{File: subject, Old: "canonicalHash(params)\n", New: "canonicalHash(map[string]jsontext.Value{\"name\": params[\"name\"], \"arguments\": params[\"arguments\"]})\n"}}, fits},
		{"an approval is of any definition", []overlay.Edit{{File: call, Old: "a.ArgumentsHash, a.Definition,", New: "a.ArgumentsHash,"}}, "TestAnApprovalIsOfOneDefinition"},
		{"an approval does not expire", []overlay.Edit{{File: service, Old: "	case now >= rec.Value.ExpiresAt:", New: "	case rec.Value.ExpiresAt == 0:"}}, "TestAnExpiredApprovalLetsNothingThrough"},
		{"an approval is used again", []overlay.Edit{{File: service, Old: "		return rec.Value, s.Collections.Approvals.Replace(ctx, tx, *rec)\n", New: "		return rec.Value, nil\n"}}, once},
		{"an agent approves its own call", []overlay.Edit{{File: "resources/access/approval.go", Old: "	if err := ownByToken(r, decides); err != nil {\n		return wire.Response{}, err\n	}\n	var p wire.Problems\n	noQuery", New: "	var p wire.Problems\n	noQuery"}}, ofOne},
	}
}

func mutantsOfArguments() []mutant {
	const rules, door, streams = "policies/engine/tools.go", "gateway/doors/mcp/arguments.go", "gateway/doors/mcp/streams.go"
	const denies = "TestRulesOverArgumentsDenyCalls"
	return []mutant{
		{"arguments need no schema", []overlay.Edit{{File: rules, Old: "; schema != nil {\n		v.Problems", New: "; schema != nil && call.Tool == \"\" {\n		v.Problems"}}, denies},
		{"the rules are not asked", []overlay.Edit{{File: rules, Old: "v.Problems != nil || rules.query == nil {", New: "v.Problems != nil || rules.query != nil {"}}, denies},
		{"one reading is judged", []overlay.Edit{{File: rules, Old: "range readings {", New: "range readings[:1] {"}}, "TestRulesHoldForWhatServersRead"},
		{"an actor has no ceiling", []overlay.Edit{{File: "gateway/acting.go", Old: "x.principal.Client.HasActor()", New: "x.principal.Client == nil"}}, "TestAnAgentAtTheAPIIsHeldToItsCeiling"},
		{"a denial by a rule is ignored", []overlay.Edit{{File: door, Old: "	case denied.Code != \"\":\n", New: "	case denied.Code != \"\" && denied.Code != \"argument_denied\":\n"}}, denies},
		{"a rule that fails allows", []overlay.Edit{{File: door, Old: "	case err != nil:\n", New: "	case err != nil && r.arguments != nil:\n		return nil\n	case err != nil:\n"}}, denies},
		{"open streams keep their arguments", []overlay.Edit{{File: streams, Old: "	current.arguments = r.arguments\n", New: ""}}, "TestNewRulesEndAnOpenStream"},
	}
}

func mutantsOfTasks() []mutant {
	const tasks, resume, ids = "gateway/doors/mcp/tasks.go", "gateway/doors/mcp/resume.go", "gateway/doors/mcp/message/ids.go"
	const ofCaller, anew, resumed = "TestATaskIsOfItsCaller", "TestATaskIsJudgedAnew", "TestAResumedStreamIsOfItsCall"
	const parts = "string(purpose), c.Upstream, c.Server, c.Account, c.User, c.Agent"
	return []mutant{
		{"a task is of any user", []overlay.Edit{{File: ids, Old: parts, New: "string(purpose), c.Upstream, c.Server, c.Account, c.Agent"}}, ofCaller},
		{"a task is of any agent", []overlay.Edit{{File: ids, Old: parts, New: "string(purpose), c.Upstream, c.Server, c.Account, c.User"}}, ofCaller},
		{"an id is of any upstream", []overlay.Edit{{File: ids, Old: parts, New: "string(purpose), c.Server, c.Account, c.User, c.Agent"}}, "TestIDsOfAnotherUpstreamAreUnknown"},
		{"a task is of any server", []overlay.Edit{
			{File: ids, Old: parts, New: "string(purpose), c.Upstream, c.Account, c.User, c.Agent"},
			{File: resume, Old: "	return h, ok && h.Place == v.place.path\n", New: "	at, _ := readPlace(h.Place)\n	return h, ok && at.prefix() == v.place.prefix()\n"},
		}, ofCaller},
		{"a task is of any path", []overlay.Edit{{File: resume, Old: " && h.Place == v.place.path\n", New: "\n"}}, ofCaller},
		{"a task is of any tool", []overlay.Edit{{File: tasks, Old: "toolRow(v.server, p.Name)}", New: "toolRow(v.server, \"search_issues\")}"}}, anew},
		{"a task is not judged", []overlay.Edit{{File: tasks, Old: "	return v.judged(ctx, p, v.taskRow(p.TaskID))\n", New: "	return v.forward(p, nil, nil)\n"}}, anew},
		{"a task has the server's id", []overlay.Edit{{File: tasks, Old: "	if !message.HasTaskID(raw) {", New: "	if p.Method == message.MethodCall || !message.HasTaskID(raw) {"}}, ofCaller},
		{"a stream is resumed by any user", []overlay.Edit{{File: ids, Old: parts, New: "string(purpose), c.Upstream, c.Server, c.Account, c.Agent"}}, resumed},
		{"a resumed stream is not judged", []overlay.Edit{{File: resume, Old: "	return rows, v.mayStill(ctx, rows, \"The call that began this stream is not allowed any more.\")\n", New: "	return rows, nil\n"}}, resumed},
		{"updates of any resource", []overlay.Edit{{File: "gateway/doors/mcp/forward.go", Old: "err != nil || !may[0] || ", New: "err != nil || len(may) == 0 || "}}, "TestUpdatesOfResourcesAreJudged"},
		{"a notification names a new task", []overlay.Edit{{File: tasks, Old: "!response || ", New: ""}}, "TestALegacyTaskHasASealedID"},
		{"a stream names any task", []overlay.Edit{{File: tasks, Old: "!response || p.Method != message.MethodCall || ", New: ""}}, "TestNotificationsNameKnownTasks"},
	}
}

func mutantsOfStreams() []mutant {
	const door, streams, requests, lines = "gateway/doors/mcp/forward.go", "gateway/doors/mcp/streams.go", "gateway/doors/mcp/requests.go", "gateway/doors/mcp/message/events.go"
	const answers, lists = "TestAnAnswerIsJudgedAsItsCall", "TestNoListComesByAnotherStream"
	return []mutant{
		{"a subscription needs no scope", []overlay.Edit{{File: streams, Old: "len(scopes) > 0 {\n		return doors.Answer{Scopes: scopes}, errScopes(scopes)\n	}\n	return v.forward", New: "len(scopes) > 2 {\n		return doors.Answer{Scopes: scopes}, errScopes(scopes)\n	}\n	return v.forward"}}, "TestAStreamNeedsTheScopesOfWhatItShows"},
		{"a resumed stream needs no scope", []overlay.Edit{{File: streams, Old: "len(scopes) > 0 {\n		return doors.Answer{Scopes: scopes}, errScopes(scopes)\n	}\n	ctx, err", New: "len(scopes) > 2 {\n		return doors.Answer{Scopes: scopes}, errScopes(scopes)\n	}\n	ctx, err"}}, "TestAResumedStreamNeedsTheScopeOfItsCall"},
		{"a stream needs no right", []overlay.Edit{{File: streams, Old: "err == nil && len(rows) == 0 {", New: "err != nil {"}}, "TestAStreamNeedsARight"},
		{"a stream goes on without a right", []overlay.Edit{{File: streams, Old: "!judged && !slices.Contains(next, true) {", New: "!judged && len(next) == 0 {"}}, "TestAStreamNeedsARight"},
		{"a stream outlives its token", []overlay.Edit{{File: streams, Old: "	return v.authenticate(ctx)\n", New: "	return nil\n"}}, "TestATokenOfARemovedKeyLosesItsStream"},
		{"anybody speaks for an account", []overlay.Edit{{File: requests, Old: "v.account() != v.call.Caller.AccountID {", New: "v.account() == \"\" {"}}, "TestNobodySpeaksForAnotherAccount"},
		{"a late list has the rights of before", []overlay.Edit{{File: "gateway/doors/mcp/lists.go", Old: "v.Door.Judge.Pinned().Quiet(), *v", New: "v.judge.Quiet(), *v"}}, "TestALateListIsNarrowedByTheRightsOfThen"},
		{"updates need no scope", []overlay.Edit{{File: door, Old: "!may[0] || len(lacking(v.call.Caller, rows...)) > 0 {", New: "!may[0] {"}}, "TestUpdatesOfResourcesNeedTheScope"},
		{"a stream stays at its upstream", []overlay.Edit{{File: streams, Old: " now.server.Upstream != v.server.Upstream,", New: ""}}, "TestAStreamOfAnotherUpstreamEnds"},
		{"an unclear list passes", []overlay.Edit{{File: streams, Old: "		case !errors.Is(err, message.ErrNoItems):\n", New: "		case errors.Is(err, context.Canceled):\n"}}, lists},
		{"the second list passes", []overlay.Edit{{File: streams, Old: "			raw = narrowed\n", New: "			return narrowed, nil\n"}}, lists},
		{"headers without arguments", []overlay.Edit{{File: door, Old: "named != nil && p.Method == message.MethodCall {", New: "named != nil {"}}, "TestAHeaderOfAnArgumentNeedsTheArgument"},
		{"an answer is not judged", []overlay.Edit{{File: requests, Old: "	if err := v.mayAnswer(ctx, rows); err != nil {", New: "	if err := v.mayAnswer(ctx, rows); err != nil && h.ID == \"\" {"}}, answers},
		{"an answer needs no scope", []overlay.Edit{{File: requests, Old: "len(scopes) > 0 {", New: "len(scopes) > 2 {"}}, answers},
		{"an answer is of any caller", []overlay.Edit{{File: requests, Old: "	if !ok {\n		return doors", New: "	if !ok {\n		h.ID = string(p.ID)\n	}\n	if h.ID == \"\" {\n		return doors"}}, "TestAnAnswerIsOfItsCaller"},
		{"a line has other ends", []overlay.Edit{{File: lines, Old: "	if !divided(message) {", New: "	if len(message) > 0 {"}}, "TestNoEventHidesInALine"},
		{"a late response is not judged", []overlay.Edit{{File: door, Old: "len(judged) > 0 && v.IDs", New: "len(judged) > 1 && v.IDs"}}, "TestARevokeDuringTheWaitKeepsTheResponse"},
		{"waiting messages use up the memory of all", []overlay.Edit{{File: "gateway/streams.go", Old: "	x.releaseBody()\n", New: ""}}, "TestWaitingMessagesKeepNobodyOut"},
		{"an account holds any memory", []overlay.Edit{{File: "gateway/doors/mcp/held.go", Old: " || h.byAccount[account]+n > mostHeldOfAccount", New: ""}}, "TestServersFillNoMemory"},
		{"memory stays held", []overlay.Edit{{File: "gateway/doors/mcp/held.go", Old: "		b.held.leave(b.account, b.n)\n", New: ""}}, "TestServersFillNoMemory"},
		{"an error sends to a URL", []overlay.Edit{{File: "gateway/doors/mcp/message/server.go", Old: "m.Failed && m.Code == CodeElicitation {", New: "m.Failed && m.Code == 0 {"}}, "TestAnErrorAsksForNoUnlistedInput"},
		{"a list asks about each name", []overlay.Edit{{File: "gateway/doors/mcp/lists.go", Old: "		if !ok || r.kind != kindResource {", New: "		if !ok || len(byAction) > 0 {"}}, "TestALongListCostsNoMoreThanTheRows"},
	}
}

// TestMutantsFitTheProgram guarantees one place in the program for each edit of a mutant.
func TestMutantsFitTheProgram(t *testing.T) {
	for _, m := range mutants() {
		overlay.NewBuilder("../..", t.TempDir()).Fits(t, m.name, m.edits...)
	}
}
