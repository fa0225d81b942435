package proof_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestTheExamplesOfTheDocumentationAreTaken guarantees that Load accepts the files in docs/author/apps.md and routes.md
// with the embedded tree. The app among them answers as its page says.
func TestTheExamplesOfTheDocumentationAreTaken(t *testing.T) {
	var text []byte
	for _, page := range []string{"apps", "routes"} {
		part := must.Get(os.ReadFile("../../docs/author/" + page + ".md"))(t)
		text = append(text, part...)
	}
	tree, shown := policytest.Copy(t, policies.Tree()), 0
	for _, file := range regexp.MustCompile("`((?:apps|authz|actions)/[^`]+\\.(?:rego|json))`[^\n]*\n\n```[a-z]+\n((?s:.*?))```\n").FindAllSubmatch(text, -1) {
		tree, shown = tree.With(string(file[1]), string(file[2])), shown+1
	}
	if shown != 4 {
		t.Fatalf("%d files are shown", shown)
	}
	set := must.Get(load(t, tree))(t)
	app, _ := set.App("document")
	if len(app.Subjects) != 2 || len(app.Resources) != 1 || len(app.Actions) != 2 {
		t.Errorf("got %+v", app)
	}
	for name, c := range map[string]struct {
		subject *resources.Subject
		action  string
		allow   bool
	}{
		"an administrator":      {policytest.AdminSubject(), "write", true},
		"who is named":          {policytest.ActiveSubject(), "read", true},
		"who is named for less": {policytest.ActiveSubject(), "write", false},
		"a user of nowhere":     {nil, "write", false},
	} {
		d, err := set.JudgeApp(t.Context(), app.Name, resources.Question{AccountID: "acct-demo-v1", Facts: resources.Facts{Subject: c.subject}, Now: 1, App: &resources.Entities{
			ResourceType: "document", Subject: []byte(`{"type": "user", "id": "user-bob-v1"}`), Action: []byte(`{"name": "` + c.action + `"}`),
			Resource: []byte(`{"type": "document", "id": "handbook"}`),
		}}, time.Second)
		if err != nil || d.Allowed != c.allow {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}

// TestReferenceHasTheProbes guarantees that the documentation lists the callers of the probes.
func TestReferenceHasTheProbes(t *testing.T) {
	policytest.MadePart(t, "probes", policytest.Wrapped(strings.Join(proof.Probed(), "; ")+"."))
}
