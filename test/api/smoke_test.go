package api_test

import "testing"

func TestSceneDecides(t *testing.T) {
	s := newScene(t, sharedGateway(t))
	if !s.allowed(t, s.Admin, "project:instance:create", "/projects/"+s.Project+"/instances") {
		t.Error("the account's admin was denied")
	}
	if s.allowed(t, "user-nobody-v1", "project:instance:create", "/projects/"+s.Project+"/instances") {
		t.Error("an unknown user was allowed")
	}
}
