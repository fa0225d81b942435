package verdict_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// TestUserInQuestionIsOneOfThePath: a path with both names is about {userId}, and about nobody whose id is that of
// both together.
func TestUserInQuestionIsOneOfThePath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		params map[string]string
		want   string
	}{
		{map[string]string{}, ""},
		{map[string]string{"userId": "a"}, "a"},
		{map[string]string{"user_id": "b"}, "b"},
		{map[string]string{"userId": "a", "user_id": "b"}, "a"},
	} {
		if got := (&verdict.Route{}).Call("", resources.Target{}, c.params).Target.UserID; got != c.want {
			t.Errorf("%v: %q, want %q", c.params, got, c.want)
		}
	}
}
