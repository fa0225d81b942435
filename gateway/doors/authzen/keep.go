package authzen

import (
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// keep copies what questions have of the request's body, which would stay in memory with their records.
func keep(questions []resources.Question) {
	sent := sentCopies{}
	for i := range questions {
		q := &questions[i]
		keepTexts(&q.SubjectID, &q.AccountID, &q.Action.ID, &q.Through, &q.Target.AccountID, &q.Target.ProjectID, &q.Target.Resource, &q.Target.Rest, &q.Target.UserID)
		q.Action, _ = resources.ParseAction(q.Action.ID) // was parsed, or is empty
		if a := q.App; a != nil {
			a.ResourceType = strings.Clone(a.ResourceType)
			for _, part := range []*[]byte{&a.Subject, &a.Action, &a.Resource, &a.Context} {
				*part = sent.of(*part)
			}
		}
	}
}

// keepTexts puts one copy of texts in their place.
func keepTexts(texts ...*string) {
	size := 0
	for _, text := range texts {
		size += len(*text)
	}
	var all strings.Builder
	all.Grow(size)
	for _, text := range texts {
		all.WriteString(*text)
	}
	rest := all.String()
	for _, text := range texts {
		*text, rest = rest[:len(*text)], rest[len(*text):]
	}
}

// sentCopies are copies of what was sent, by where it is: thousands of questions can share one part.
type sentCopies map[*byte][]byte

func (known sentCopies) of(part []byte) []byte {
	if len(part) == 0 {
		return nil
	}
	if known[&part[0]] == nil {
		known[&part[0]] = slices.Clone(part)
	}
	return known[&part[0]]
}
