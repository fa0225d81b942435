package authzen

import (
	"strconv"

	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// appendOutcome appends the JSON of a decision with its context; account says that its question is about one.
func appendOutcome(to []byte, account bool, o *verdict.Outcome) []byte {
	if o.Err != nil {
		return appendError(to, o)
	}
	to = append(strconv.AppendBool(append(to, `{"decision":`...), o.Allowed), `,"context":{`...)
	for _, m := range o.Context {
		switch m.Name {
		case "reason", "decision_id", "policy_revision", "account_revision", "error": // the gateway's own
		default:
			to = append(append(append(wire.AppendString(to, m.Name), ':'), m.Value...), ',')
		}
	}
	to = wire.AppendString(append(to, `"reason":`...), resources.MaskCredentials(o.Reason))
	to = wire.AppendString(append(to, `,"decision_id":`...), o.ID)
	to = wire.AppendString(append(to, `,"policy_revision":`...), o.PolicyRevision)
	if account {
		to = strconv.AppendInt(append(to, `,"account_revision":`...), o.AccountRevision, 10)
	}
	return append(to, "}}"...)
}

// appendError appends the JSON of an item with an error; it denies. A verdict on the right to ask has an id.
func appendError(to []byte, o *verdict.Outcome) []byte {
	e := resources.AsError(o.Err)
	message := e.Message
	for i, p := range e.Problems {
		separator := "; "
		if i == 0 {
			separator = " "
		}
		message += separator + p.String()
	}
	to = strconv.AppendInt(append(to, `{"decision":false,"context":{"error":{"status":`...), int64(wire.Status(e.Kind)), 10)
	to = append(wire.AppendString(append(to, `,"message":`...), resources.MaskCredentials(message)), '}')
	if o.ID != "" {
		to = wire.AppendString(append(to, `,"decision_id":`...), o.ID)
	}
	return append(to, "}}"...)
}
