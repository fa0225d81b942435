package authzen

import (
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// keep copies what questions reference of the request's body; their records would keep the body in memory. Thousands of
// questions can share one part of it: it is copied once.
func keep(questions []resources.Question) {
	copies := map[*byte][]byte{}
	for i := range questions {
		q := &questions[i]
		q.Action, _ = resources.ParseAction(strings.Clone(q.Action.ID)) // was parsed, or is empty
		t := &q.Target
		for _, text := range []*string{&q.SubjectID, &q.AccountID, &q.Through, &t.AccountID, &t.ProjectID, &t.Resource, &t.Rest, &t.UserID} {
			*text = strings.Clone(*text)
		}
		if q.Agent != nil {
			ref := &q.Agent.Ref
			for _, text := range []*string{&ref.ID, &ref.Client.Issuer, &ref.Client.ClientID} {
				*text = strings.Clone(*text)
			}
		}
		a := q.App
		if a == nil {
			continue
		}
		a.ResourceType = strings.Clone(a.ResourceType)
		for _, part := range []*[]byte{&a.Subject, &a.Action, &a.Resource, &a.Context} {
			if len(*part) == 0 {
				continue
			}
			first := &(*part)[0]
			if copies[first] == nil {
				copies[first] = slices.Clone(*part)
			}
			*part = copies[first]
		}
	}
}
