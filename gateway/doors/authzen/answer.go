package authzen

import (
	"strconv"

	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// appendOutcome appends the JSON of a decision with its context; account says that its question is about one.
func appendOutcome(dst []byte, account bool, o *verdict.Outcome) []byte {
	if o.Err != nil {
		return appendError(dst, o)
	}
	dst = append(strconv.AppendBool(append(dst, `{"decision":`...), o.Allowed), `,"context":{`...)
	for _, m := range o.Context {
		switch m.Name {
		case "reason", "decision_id", "policy_revision", "account_revision", "error": // the gateway's own
		default:
			dst = append(append(append(wire.AppendString(dst, m.Name), ':'), m.Value...), ',')
		}
	}
	dst = wire.AppendString(append(dst, `"reason":`...), resources.MaskCredentials(o.Reason))
	dst = wire.AppendString(append(dst, `,"decision_id":`...), o.ID)
	dst = wire.AppendString(append(dst, `,"policy_revision":`...), o.PolicyRevision)
	if account {
		dst = strconv.AppendInt(append(dst, `,"account_revision":`...), o.AccountRevision, 10)
	}
	return append(dst, "}}"...)
}

// appendError appends the JSON of an item with an error; it denies. A verdict on the right to ask has an id.
func appendError(dst []byte, o *verdict.Outcome) []byte {
	e := resources.AsError(o.Err)
	message := e.Message
	for i, p := range e.Problems {
		separator := "; "
		if i == 0 {
			separator = " "
		}
		message += separator + p.String()
	}
	dst = strconv.AppendInt(append(dst, `{"decision":false,"context":{"error":{"status":`...), int64(wire.Status(e.Kind)), 10)
	dst = append(wire.AppendString(append(dst, `,"message":`...), resources.MaskCredentials(message)), '}')
	if o.ID != "" {
		dst = wire.AppendString(append(dst, `,"decision_id":`...), o.ID)
	}
	return append(dst, "}}"...)
}
