package route_test

import (
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// place writes a target as the path that names it, without api/v1/.
func place(t resources.Target) string {
	var parts []string
	if t.AccountID != "" {
		parts = append(parts, "accounts", t.AccountID)
	}
	if t.ProjectID != "" {
		parts = append(parts, "projects", t.ProjectID)
	}
	if t.Rest != "" {
		parts = append(parts, t.Rest)
	}
	return strings.Join(parts, "/")
}

func withoutVersion(p string) string {
	if p == "api/v1" {
		return ""
	}
	return strings.TrimPrefix(p, "api/v1/")
}

// normalised lists what common servers and libraries make of a relative path; the
// reading of a path that is taken must be the same in all of them.
func normalised(t *testing.T, p string) map[string]string {
	t.Helper()
	u, err := url.Parse("http://host/" + p)
	if err != nil {
		t.Fatalf("%q is taken, and no URL: %v", p, err)
	}
	relative, err := url.Parse("/" + p)
	if err != nil || relative.Host != "" || relative.RawQuery != "" || relative.Fragment != "" {
		t.Fatalf("%q is taken, and no path: %+v %v", p, relative, err)
	}
	return map[string]string{
		"path.Clean": path.Clean("/" + p), "url.EscapedPath": u.EscapedPath(), "url.JoinPath": u.JoinPath().EscapedPath(),
		"url.ResolveReference": u.ResolveReference(relative).EscapedPath(),
		"backslashes":          strings.ReplaceAll("/"+p, `\`, "/"),
	}
}

// FuzzPath: a path that is taken reads the same in every common normaliser.
func FuzzPath(f *testing.F) {
	for _, paths := range refusedPaths {
		for _, p := range paths {
			f.Add([]byte(p))
		}
	}
	for _, p := range acceptedPaths {
		f.Add([]byte(p))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := string(raw)
		if len(route.PathProblems(p)) > 0 {
			return
		}
		for name, got := range normalised(t, p) {
			if got != "/"+p {
				t.Errorf("%s makes %q of %q", name, got, "/"+p)
			}
		}
		once := must.Get(url.PathUnescape(p))(t)
		if twice, err := url.PathUnescape(once); err != nil || twice != once {
			t.Errorf("decoding %q twice makes %q (%v)", p, twice, err)
		}
		if strings.Count(once, "/") != strings.Count(p, "/") || path.Clean("/"+once) != "/"+once || strings.ContainsAny(once, "\\;%\x00") {
			t.Errorf("%q decodes to %q", p, once)
		}
		for segment := range strings.SplitSeq(once, "/") {
			if s := strings.TrimSpace(segment); s == "." || s == ".." {
				t.Errorf("%q holds the segment %q", p, segment)
			}
		}
	})
}

// FuzzTarget: the place that is read from a path is all of the path.
func FuzzTarget(f *testing.F) {
	for _, p := range []string{"accounts/a/projects/p/x/y", "projects", "api/v1/projects/p", "accounts", "x/Projects/y", "account%C5%BF/a", "api/v1"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if len(route.PathProblems(p)) > 0 {
			return
		}
		target, problem := route.ParseTarget(p)
		if problem != "" {
			return
		}
		if place(target) != withoutVersion(p) {
			t.Fatalf("%q is taken as %+v", p, target)
		}
		decoded, _ := url.PathUnescape(target.Rest)
		for segment := range strings.SplitSeq(decoded, "/") {
			if decoded != "projects" && (strings.EqualFold(segment, "accounts") || strings.EqualFold(segment, "projects")) {
				t.Fatalf("%q names a second place: %+v", p, target)
			}
		}
		for _, id := range []string{target.AccountID, target.ProjectID} {
			if id != "" && !resources.ValidID(id) {
				t.Fatalf("%q names %q", p, id)
			}
		}
	})
}
