package store_test

import (
	"errors"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// TestAnErrorSaysItsCauseAlone guarantees that the operator does not read the advice for a caller of the API.
func TestAnErrorSaysItsCauseAlone(t *testing.T) {
	cause := errors.New("the disk is on fire")
	for contract, err := range map[error]error{
		store.ErrUnavailable: store.Unavailable(cause), store.ErrOutcomeUnknown: store.OutcomeUnknown(cause),
	} {
		if err.Error() != cause.Error() || !errors.Is(err, cause) || !errors.Is(err, contract) {
			t.Errorf("%v", err)
		}
		if domain := resources.AsError(err); domain.Kind != resources.KindUnavailable || domain.Message != contract.Error() {
			t.Errorf("the caller is told %+v", domain)
		}
	}
}
