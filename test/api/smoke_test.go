package api_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

func TestSceneDecides(t *testing.T) {
	s := harness.NewScene(t, harness.Shared(t))
	if !s.Allowed(t, s.Admin, "project:instance:create", "/projects/"+s.Project+"/instances") {
		t.Error("the account's admin was denied")
	}
	if s.Allowed(t, "user-nobody-v1", "project:instance:create", "/projects/"+s.Project+"/instances") {
		t.Error("an unknown user was allowed")
	}
}
