package resources_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// TestUnknownErrorIsInternal checks that an unknown error keeps its text for the log.
func TestUnknownErrorIsInternal(t *testing.T) {
	cause := errors.New("password=hunter2")
	e := resources.AsError(fmt.Errorf("reading: %w", cause))
	if e.Kind != resources.KindInternal || strings.Contains(e.Message, "hunter2") || !errors.Is(e, cause) || !strings.Contains(e.Error(), "hunter2") {
		t.Errorf("%+v", e)
	}
	var zero resources.Error
	if zero.Kind != resources.KindInternal {
		t.Error("the zero kind is not internal")
	}
}

func TestDomainErrorIsFoundInAChain(t *testing.T) {
	for kind, e := range map[resources.Kind]*resources.Error{
		resources.KindBadRequest: resources.BadRequest(resources.Problem{Field: "a", Text: "b"}), resources.KindForbidden: resources.Forbidden("%d%%", 5),
		resources.KindNotFound: resources.NotFound("user"), resources.KindConflict: resources.Conflict("taken"), resources.KindUnavailable: resources.Unavailable("later", errors.New("down")),
	} {
		wrapped := fmt.Errorf("a: %w", errors.Join(errors.New("b"), e))
		if resources.AsError(wrapped) != e || !resources.IsKind(wrapped, kind) || resources.IsKind(wrapped, kind+1) || resources.IsKind(errors.New("x"), kind) {
			t.Errorf("%v", e)
		}
	}
	if got := resources.Forbidden("%d%%", 5).Error(); got != "5%" {
		t.Error(got)
	}
	if e := resources.Unavailable("later", errors.New("down")); e.RetryAfter != time.Second || e.Error() != "later: down" || e.Message != "later" {
		t.Errorf("%+v", e)
	}
	if a, b := (resources.Problem{Field: "f", Text: "t"}).String(), (resources.Problem{Text: "t"}).String(); a != "f: t" || b != "t" {
		t.Error(a, b)
	}
}

// TestServiceScopesAreAServiceOnly checks that a scope in a user's token does not count.
func TestServiceScopesAreAServiceOnly(t *testing.T) {
	scopes := []string{resources.ServiceScopeCheck}
	if !(resources.Principal{Kind: resources.PrincipalService, Scopes: scopes}).HasScope(resources.ServiceScopeCheck) ||
		(resources.Principal{Kind: resources.PrincipalService, Scopes: scopes}).HasScope(resources.ServiceScopeAdmin) ||
		(resources.Principal{Kind: resources.PrincipalUser, Scopes: scopes}).HasScope(resources.ServiceScopeCheck) ||
		(resources.Principal{Scopes: scopes}).HasScope(resources.ServiceScopeCheck) {
		t.Error("a scope counts for somebody else, or not for a service")
	}
	var d resources.Decision
	if d.Allowed {
		t.Error("the zero decision allows")
	}
}

func TestMessageStaysOnOneLine(t *testing.T) {
	for text, want := range map[string]string{"a": "a", "a\nb": "a; b", "a\r\n\n  b\n": "a;   b", "": ""} {
		if got := resources.OneLine(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
