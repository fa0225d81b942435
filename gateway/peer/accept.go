package peer

import (
	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
)

// Accept takes a gateway's word for the caller. The header must have exactly one assertion, about
// the request as this process saw it, and about this process's action for it. The error is 401
// (resources.KindNoCredential).
func Accept(keys *assertion.Keys, tokens []string, seen assertion.Statement, action string) (assertion.Statement, error) {
	said, err := assertion.Statement{}, errNotVouched
	if len(tokens) == 1 {
		said, err = keys.Verify(tokens[0], seen)
	}
	if err == nil && said.Action != action {
		err = errNotVouched
	}
	if err != nil {
		return assertion.Statement{}, &resources.Error{
			Kind: resources.KindNoCredential, Message: "This address is for the gateway: ask there.", Cause: err,
		}
	}
	return said, nil
}
