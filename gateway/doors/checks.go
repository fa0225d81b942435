package doors

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Turns lets callers take turns (resources/gate). Each Enter without an error needs one Leave.
type Turns interface {
	Enter(ctx context.Context, caller string) error
	Leave()
}

// MediaType is wire.MediaType of the one Content-Type.
func MediaType(h Headers) (json, utf8 bool) {
	kinds, odd := h.Values("Content-Type")
	if odd || len(kinds) != 1 {
		return false, false
	}
	return wire.MediaType(kinds[0])
}

// CheckMediaType refuses a body other than plain JSON, or with two types: 415.
func CheckMediaType(h Headers, body []byte, encoded bool) error {
	json, utf8 := true, true
	if len(body) > 0 {
		json, utf8 = MediaType(h)
	}
	if encoded || !json || !utf8 {
		return &resources.Error{
			Kind: resources.KindUnsupportedMedia, Message: "A body must be application/json in UTF-8 without a Content-Encoding.",
		}
	}
	return nil
}

// OddHeaders returns the problems of identity headers. Its doors read none of them, but a server on the way to them may.
func OddHeaders(h Headers, names ...string) (problems []resources.Problem) {
	for _, name := range names {
		if _, problem := h.Identity(name); problem != "" {
			problems = append(problems, resources.Problem{Field: name, Text: problem})
		}
	}
	return problems
}

// ErrOldSnapshot means a store that broke its contract: the facts have a lower revision than the caller's right to ask
// was judged by.
var ErrOldSnapshot = errors.New("doors: the facts are older than those that were known before")

// PolicyChanged is the refusal of a call whose row is in another tree than the verdict: a reload came during the call. The
// row's action may be that of other calls since.
func PolicyChanged(cause error) error {
	return resources.Unavailable("The policy has changed during the request; try again.", cause)
}

// OrUnavailable turns an error from outside the domain into one of KindUnavailable with the message.
func OrUnavailable(err error, message string) error {
	if _, ok := errors.AsType[*resources.Error](err); ok {
		return err
	}
	return resources.Unavailable(message, err)
}
