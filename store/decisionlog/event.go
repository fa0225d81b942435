package decisionlog

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/portcullis-authz/portcullis/resources"
)

// Input makes the input that policy has judged (policies/engine). It has the members subject and
// account, unless it is an app's.
type Input func(j *resources.Judgement) ([]byte, error)

// Event is a record in the form of OPA's decision logs.
type Event struct {
	Labels     map[string]string `json:"labels"`
	DecisionID string            `json:"decision_id"`
	ParentID   string            `json:"parent_id,omitempty"`
	Path       string            `json:"path"`
	// Input and Result are left out where a mask has taken them away.
	Input       jsontext.Value `json:"input,omitempty"`
	Result      jsontext.Value `json:"result,omitempty"`
	Erased      []string       `json:"erased,omitempty"`
	Masked      []string       `json:"masked,omitempty"`
	MaskError   string         `json:"mask_error,omitempty"`
	RequestedBy string         `json:"requested_by,omitempty"`
	Timestamp   string         `json:"timestamp"`
	// Place is nil unless a reader asked for one decision. No line of a log has it.
	Place *Place `json:"place,omitempty"`
}

// Names of labels.
const (
	labelApp      = "app"
	labelLog      = "id"
	labelVersion  = "version"
	labelPolicy   = "policy_revision"
	labelRevision = "account_revision"
	labelDecided  = "decided_by"
	byGateway     = "gateway" // where policy was not asked
	// labelMasked says that a credential was taken out of a record.
	labelMasked = "masked"
)

// newEvent returns a verdict as an event.
func newEvent(log, version string, j *resources.Judgement, input Input) (Event, error) {
	if j.Call != nil {
		input = callInput
	}
	raw, err := input(j)
	if err == nil && !jsontext.Value(raw).IsValid() {
		err = errNotJSON
	}
	if err != nil {
		return Event{}, err
	}
	e := bareEvent(log, version, j)
	e.Input, e.RequestedBy = raw, resources.MaskCredentials(j.Question.Principal.ID)
	e.Result, err = result(j)
	if j.Unasked {
		e.Labels[labelDecided] = byGateway
	}
	return e, err
}

// erasedEvent returns a verdict without its input, and of the result only whether it allows.
func erasedEvent(log, version string, j *resources.Judgement, why error) Event {
	e := bareEvent(log, version, j)
	e.Erased, e.MaskError = []string{"/" + PartInput}, strings.ToValidUTF8(why.Error(), "\ufffd")
	bare := &resources.Judgement{Question: resources.Question{App: j.Question.App}, Decision: resources.Decision{Allowed: j.Decision.Allowed}, Call: j.Call}
	e.Result, _ = result(bare) // of one boolean
	return e
}

// bareEvent returns an event without what the question and the decision say.
func bareEvent(log, version string, j *resources.Judgement) Event {
	return Event{
		Labels: map[string]string{
			labelApp: "portcullis", labelLog: log, labelVersion: version,
			labelPolicy: j.Decision.PolicyRevision, labelRevision: strconv.FormatInt(j.Question.Facts.Revision, 10),
		},
		DecisionID: j.ID, ParentID: j.ParentID, Path: j.Path, Timestamp: j.Question.Now.String(),
	}
}

// result returns the value of the rule that was asked.
func result(j *resources.Judgement) (jsontext.Value, error) {
	if j.Call != nil {
		return callResult(j)
	}
	var c cleaner
	members := map[string]any{"allow": j.Decision.Allowed, "reason": c.text(j.Decision.Reason)}
	if j.Question.App != nil {
		members = map[string]any{"decision": j.Decision.Allowed}
	} else if j.Decision.Code != "" {
		members["code"] = c.text(j.Decision.Code)
	}
	if context := c.members(j.Context); context != nil {
		members["context"] = context
	}
	return json.Marshal(members, json.Deterministic(true))
}

// credential notes that a credential was removed.
func (e *Event) credential() {
	e.Labels = maps.Clone(e.Labels)
	if e.Labels == nil {
		e.Labels = map[string]string{}
	}
	e.Labels[labelMasked] = "credential"
}

// LeftOut returns the names that lead to each changed part of the input or the result: a mask removed or replaced it. An
// empty list of names is the whole, after the removal of a credential.
func (e *Event) LeftOut(part string) (parts [][]string) {
	if e.Labels[labelMasked] != "" {
		parts = append(parts, nil)
	}
	for _, path := range slices.Concat(e.Erased, e.Masked) {
		steps, err := stepsOf(path)
		switch {
		case err != nil: // which this program does not write
			parts = append(parts, nil)
		case steps[0] == part:
			parts = append(parts, steps[1:])
		}
	}
	return parts
}

// Unasked says that policy was not asked.
func (e *Event) Unasked() bool { return e.Labels[labelDecided] == byGateway }

// PolicyRevision names the tree that has decided.
func (e *Event) PolicyRevision() string { return e.Labels[labelPolicy] }

// JSON returns the event on one line.
func (e *Event) JSON() ([]byte, error) { return json.Marshal(e, json.Deterministic(true)) }
