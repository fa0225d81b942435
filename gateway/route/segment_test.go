package route_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// FuzzSegment: a name of policy's that is a segment as it is (resources.ValidPathSegment) is one here, and no other name.
func FuzzSegment(f *testing.F) {
	for _, names := range refusedPaths {
		for _, name := range names {
			f.Add(name)
		}
	}
	for c := range 256 {
		f.Add(string([]byte{'a', byte(c)}))
		f.Add(string([]byte{byte(c)}))
	}
	for _, name := range []string{"search_issues", "a.b", "...", "accounts", "Projects", "project\u017f", "projects2", strings.Repeat("a", 128), strings.Repeat("a", 129)} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		path := "accounts/a/projects/p/mcp/server/tools/" + name
		problems := route.PathProblems(path)
		target, ambiguous := route.ParseTarget(path)
		want := len(problems) == 0 && ambiguous == "" && !strings.ContainsAny(name, "/%") && len(name) <= 128
		if got := resources.ValidPathSegment(name); got != want {
			t.Fatalf("%q: %v, and the path has %q %q", name, got, problems, ambiguous)
		}
		if want && target.Rest != "mcp/server/tools/"+name {
			t.Errorf("%q: %+v", name, target)
		}
		asServer := "mcp/" + name + "/tools/x"
		if target, ambiguous := route.ParseTarget(asServer); resources.ValidMCPServerName(name) && (len(route.PathProblems(asServer)) > 0 || ambiguous != "" || target.Resource != "mcp/"+name) {
			t.Errorf("server %q: %q %+v", name, ambiguous, target)
		}
	})
}

// TestAPathCanHoldEveryUserID guarantees that paths of the API can name every new user. Nobody could take the roles of any
// other one away.
func TestAPathCanHoldEveryUserID(t *testing.T) {
	for _, id := range []string{"user-1-v1", "a@b.example", "...", "_", "accounts2", "my-projects", ".", "..", "accounts", "projects", "Accounts", "PROJECTS"} {
		path := "api/v1/accounts/a/users/" + id + "/profile"
		_, ambiguous := route.ParseTarget(path)
		if fits := len(route.PathProblems(path)) == 0 && ambiguous == ""; resources.ValidUserID(id) != fits {
			t.Errorf("%q can be a user's id: %v; a path can hold it: %v", id, !fits, fits)
		}
	}
}

// FuzzResource: what a row of an MCP server's resources takes of a URI is a path that every server reads alike, once it is
// held to be text.
func FuzzResource(f *testing.F) {
	s := &resources.MCPServer{Resources: []resources.MCPResource{{URI: "x://{rest+}"}}}
	for _, paths := range refusedPaths {
		for _, p := range paths {
			f.Add(p)
		}
	}
	for _, p := range acceptedPaths {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if s.Resource("x://"+p) == nil || len(p) > 2048 {
			return
		}
		for _, problem := range route.PathProblems(p) {
			if !strings.Contains(problem, "UTF-8") && !strings.Contains(problem, "control character") && !strings.Contains(problem, "some servers read as a dot, ") {
				t.Errorf("%q %s", p, problem)
			}
		}
	})
}
