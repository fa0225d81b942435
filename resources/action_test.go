package resources_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

func TestActionHasThreeSegments(t *testing.T) {
	long := "a" + strings.Repeat("0", 63)
	for _, s := range []string{"account:user:read", "project:k8s_node-pool:a", "resource:" + long + ":" + long} {
		a, err := resources.ParseAction(s)
		if err != nil || a.ID != s || a.Scope+":"+a.Resource+":"+a.Verb != s {
			t.Errorf("%q: %+v %v", s, a, err)
		}
	}
	for _, s := range []string{
		"", ":", "::", "account", "account:user", "account:user:", "account::read", ":user:read", "account:user:read:more", "Account:user:read", "account:User:read",
		"account:user:9", "account:_u:read", "account:-u:read", "account:u.x:read", "account:u r:read", " account:user:read", "account:user:read ", "account:user:read\n",
		"account:*:read", "*:user:read", "account:user:*", "global:user:read", "account:user:" + long + "x", "account:usér:read", "account:user:re\x00ad",
	} {
		if a, err := resources.ParseAction(s); err == nil || a != (resources.Action{}) || !strings.Contains(err.Error(), "project:instance:create") {
			t.Errorf("%q: %+v %v", s, a, err)
		}
	}
}

func TestPatternMayHaveStars(t *testing.T) {
	for _, s := range []string{"*:*:*", "account:*:read", "*:user:read", "project:user:*", "account:user:read"} {
		if a, err := resources.ParsePattern(s); err != nil || a.ID != s {
			t.Errorf("%q: %+v %v", s, a, err)
		}
	}
	for _, s := range []string{"*", "*:*", "**:*:*", "account:us*:read", "account:user:*:*", "account:?:read", "account:**:read", "", "Account:*:*"} {
		if _, err := resources.ParsePattern(s); err == nil {
			t.Errorf("%q is accepted", s)
		}
	}
}

func TestActionHasEightGeneralisations(t *testing.T) {
	a := must.Get(resources.ParseAction("project:vm:start"))(t)
	got := a.Patterns()
	want := []string{
		"*:*:*", "*:*:start", "*:vm:*", "*:vm:start", "project:*:*", "project:*:start", "project:vm:*", "project:vm:start",
	}
	if slices.Sort(got[:]); !slices.Equal(got[:], want) {
		t.Errorf("%q", got)
	}
}

func FuzzParseAction(f *testing.F) {
	form := regexp.MustCompile(`\A(account|project|resource):[a-z][a-z0-9_-]{0,63}:[a-z][a-z0-9_-]{0,63}\z`)
	for _, s := range []string{"account:user:read", "project:*:read", "::", "account:user:read\n", "account:us\xff:read"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := resources.ParseAction(s)
		if (err == nil) != form.MatchString(s) {
			t.Fatalf("%q: %v", s, err)
		}
		p, perr := resources.ParsePattern(s)
		if err == nil && (perr != nil || p != a) {
			t.Errorf("the action %q is no pattern: %v", s, perr)
		}
		if err != nil {
			return
		}
		for _, pattern := range a.Patterns() {
			if _, err := resources.ParsePattern(pattern); err != nil {
				t.Errorf("%q of %q: %v", pattern, s, err)
			}
		}
	})
}
