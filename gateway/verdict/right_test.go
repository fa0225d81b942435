package verdict_test

import (
	"context"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// onlyAbout is a tree that lets a caller ask about one user.
type onlyAbout struct {
	*many
	user string
}

func (o onlyAbout) Access(_ context.Context, q resources.Question) (resources.Decision, error) {
	return resources.Decision{Allowed: q.Target.UserID == o.user}, nil
}

// TestARefusalIsForItsSubjectAlone, in whichever order the subjects come.
func TestARefusalIsForItsSubjectAlone(t *testing.T) {
	m, pins := &many{parts: parts{decide: yes}}, 0
	j := m.judge(&pins)
	j.Pin = func() verdict.Tree { return onlyAbout{m, "user-bob-v1"} }
	var questions []resources.Question
	for _, user := range []string{"user-eve-v1", "user-bob-v1", "user-eve-v1", "user-bob-v1"} {
		questions = append(questions, item(t, user, "acct-a-v1", ""))
	}
	for i, o := range must.Get(j.Judge(t.Context(), alice(), door(t), questions, nil))(t) {
		if may := questions[i].SubjectID == "user-bob-v1"; o.Allowed != may || resources.IsKind(o.Err, resources.KindForbidden) == may {
			t.Errorf("%d: %+v", i, o)
		}
	}
}
