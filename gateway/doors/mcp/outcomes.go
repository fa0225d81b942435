package mcp

import "github.com/portcullis-authz/portcullis/resources"

// The outcomes of calls, as metrics count them. The door did not send the calls of the last four.
const (
	// OutcomeAnswered is for a result, OutcomeFailed for a result that is an error, or a JSON-RPC error.
	OutcomeAnswered = "answered"
	OutcomeFailed   = "failed"
	// OutcomeNoAnswer is for a server that is down, or ends a call without a response.
	OutcomeNoAnswer = "no_answer"

	OutcomeDenied = "denied"
	// OutcomeDefinition is for the denial of a tool with a changed definition.
	OutcomeDefinition = "definition_changed"
	// OutcomeUndecided is for a call without a verdict, a known definition or a record.
	OutcomeUndecided = "undecided"
	OutcomeUnsent    = "not_sent"
)

// Outcomes returns all outcomes: those above, and who else ended a call.
func Outcomes() []string {
	return []string{
		OutcomeAnswered, OutcomeFailed, OutcomeNoAnswer,
		resources.MCPEndedByCaller, resources.MCPEndedByVerdict, resources.MCPEndedByToken, resources.MCPEndedByGateway,
		OutcomeDenied, OutcomeDefinition, OutcomeUndecided, OutcomeUnsent,
	}
}

// outcomeOf returns the outcome of a call that was sent.
func outcomeOf(endedBy string, answered bool, o *resources.MCPOutcome) string {
	switch {
	case endedBy != resources.MCPEndedByUpstream:
		return endedBy
	case !answered:
		return OutcomeNoAnswer
	case o.Error != 0 || o.ToolError:
		return OutcomeFailed
	}
	return OutcomeAnswered
}

// count counts a call of the server.
func (v *visit) count(outcome string) {
	if v.Observe != nil {
		v.Observe(v.server.Name, outcome)
	}
}
