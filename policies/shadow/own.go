package shadow

import (
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// outliving returns a copy of a question that outlives its request. The subject's facts never change, and the route is the
// catalogue's; all other strings belong to the request.
func outliving(q *resources.Question) resources.Question {
	out := *q
	for _, text := range []*string{
		&out.Principal.Kind, &out.Principal.ID, &out.Principal.UUID, &out.Principal.AccountID, &out.Principal.Credential, &out.Principal.KeyID,
		&out.Action.ID, &out.Action.Scope, &out.Action.Resource, &out.Action.Verb, &out.AccountID,
		&out.Target.AccountID, &out.Target.ProjectID, &out.Target.Resource, &out.Target.Rest, &out.Target.UserID,
	} {
		*text = strings.Clone(*text)
	}
	for _, list := range []*[]string{&out.Principal.Scopes, &out.Principal.KeyScopes} {
		*list = slices.Clone(*list)
		for i, text := range *list {
			(*list)[i] = strings.Clone(text)
		}
	}
	return out
}
