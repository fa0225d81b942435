package access_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// bootstrapper gives a world and the service behind it.
func bootstrapper(t *testing.T) (*accessWorld, *access.Service) {
	t.Helper()
	var cfg access.Config
	w := newWorld(t, func(c *access.Config) { cfg = *c })
	return w, access.New(cfg)
}

var demo = access.Bootstrap{
	AccountID: newAcct, AccountName: "Demo", AdminEmail: "ada@example.com", AdminID: "user-ada-v1", AdminName: "Ada",
	ProjectID: "proj-demo-v1", ProjectName: "Demo project",
}

func TestBootstrapMakesAllAndARepeatNothing(t *testing.T) {
	w, svc := bootstrapper(t)
	first := must.Get(svc.Bootstrap(t.Context(), demo))(t)
	if first.Account.Name != "Demo" || first.Admin.ID != "user-ada-v1" || first.Admin.Status != "ACTIVE" || first.Project.Name != "Demo project" {
		t.Errorf("%+v", first)
	}
	w.Expect(w.call("project.update", areatest.As(newAcct, "user-ada-v1"), "accountId="+newAcct+",projectId=proj-demo-v1", "", `{"name":"Demo project"}`), 200)
	project, _ := lookUp(w, w.Collections.Projects, demo.ProjectID)
	w.Clock.Add(int64(hour))

	again := demo
	again.AdminEmail, again.AdminName = "ADA@example.com", "Somebody"
	second := must.Get(svc.Bootstrap(t.Context(), again))(t)
	if second.Account != first.Account || second.Admin != first.Admin || *second.Project != *first.Project {
		t.Errorf("the repeat gave %+v, the first %+v", second, first)
	}
	if p, _ := lookUp(w, w.Collections.Projects, demo.ProjectID); p != project {
		t.Errorf("the repeat changed the project to %+v", p)
	}
	least := access.Bootstrap{AccountID: newAcct, AccountName: "Demo", AdminEmail: "ada@example.com", ProjectID: demo.ProjectID}
	if _, err := svc.Bootstrap(t.Context(), least); err != nil {
		t.Errorf("a repeat with less: %v", err)
	}
	least.ProjectID = "proj-more-v1"
	if more, err := svc.Bootstrap(t.Context(), least); err != nil || more.Project.Name != "proj-more-v1" {
		t.Errorf("a further project: %+v, %v", more.Project, err)
	}
}

func TestBootstrapWithoutAnIDInvites(t *testing.T) {
	_, svc := bootstrapper(t)
	got, err := svc.Bootstrap(t.Context(), access.Bootstrap{AccountID: newAcct, AccountName: "n", AdminEmail: "a@example.com"})
	if err != nil || got.Admin.Status != resources.StatusInvited || got.Project != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBootstrapNamesWhatDiffers(t *testing.T) {
	w, svc := bootstrapper(t)
	must.Get(svc.Bootstrap(t.Context(), demo))(t)
	w.AddUser(newAcct, "user-plain-v1", resources.StatusActive)
	w.Expect(w.call("project.create", platform, "accountId="+newAcct, "", `{"id":"proj-gone-v1","name":"gone"}`), 201)
	w.Expect(w.call("project.delete", areatest.As(newAcct, "user-ada-v1"), "accountId="+newAcct+",projectId=proj-gone-v1", "", nil), 200)
	for text, alter := range map[string]func(b *access.Bootstrap){
		`its name is "Demo"`:                      func(b *access.Bootstrap) { b.AccountName = "Other" },
		"nobody@example.com is not a member":      func(b *access.Bootstrap) { b.AdminEmail = "nobody@example.com" },
		"user-bea-v1@example.com is not a member": func(b *access.Bootstrap) { b.AdminEmail = "user-bea-v1@example.com" },
		"is user-ada-v1":                          func(b *access.Bootstrap) { b.AdminID = "user-eve-v1" },
		"user-plain-v1@example.com is not an account_admin": func(b *access.Bootstrap) {
			b.AdminEmail, b.AdminID = "user-plain-v1@example.com", ""
		},
		`its name is "Demo project"`: func(b *access.Bootstrap) { b.ProjectName = "Other" },
		"in another account":         func(b *access.Bootstrap) { b.ProjectID = projB1 },
		"was deleted":                func(b *access.Bootstrap) { b.ProjectID = "proj-gone-v1" },
		"has this name":              func(b *access.Bootstrap) { b.ProjectID = "proj-second-v1" },
	} {
		b := demo
		alter(&b)
		_, err := svc.Bootstrap(t.Context(), b)
		if !resources.IsKind(err, resources.KindConflict) || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want a conflict that says %q", err, text)
		}
	}
	if _, ok := lookUp(w, w.Collections.Projects, "proj-second-v1"); ok {
		t.Error("a refused bootstrap made a project")
	}
}

func TestBootstrapIsOneStep(t *testing.T) {
	w, svc := bootstrapper(t)
	b := demo
	b.ProjectID = projB1
	if _, err := svc.Bootstrap(t.Context(), b); !resources.IsKind(err, resources.KindConflict) {
		t.Fatal(err)
	}
	if _, ok := lookUp(w, w.Collections.Accounts, newAcct); ok {
		t.Error("the account stayed though the project was refused")
	}
}

func TestBootstrapTellsAllProblemsAtOnce(t *testing.T) {
	_, svc := bootstrapper(t)
	_, err := svc.Bootstrap(t.Context(), access.Bootstrap{AdminID: "service-x", AdminName: " ", ProjectID: "p", ProjectName: " "})
	if e := resources.AsError(err); e.Kind != resources.KindBadRequest || len(e.Problems) != 7 {
		t.Errorf("%v: %v", err, e.Problems)
	}
}
