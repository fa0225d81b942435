package route

import (
	"net/url"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// The words that name a place in a path.
const (
	wordAccounts = "accounts"
	wordProjects = "projects"
)

// ParseTarget reads the place a path names:
// [api/v1/][accounts/{account}/][projects/{project}/]rest (API contract, 3). The
// path has no problems (PathProblems). It returns a problem if `accounts` or
// `projects` stands anywhere else, since the path could then name two places,
// and for an id that is not valid.
func ParseTarget(path string) (resources.Target, string) {
	var t resources.Target
	rest := path
	if first, second, after, ok := twoSegments(rest); ok && first == "api" && second == "v1" {
		rest = after
	}
	if first, second, after, ok := twoSegments(rest); ok && first == wordAccounts {
		t.AccountID, rest = second, after
	}
	if first, second, after, ok := twoSegments(rest); ok && first == wordProjects {
		t.ProjectID, rest = second, after
	}
	if ambiguous(t, rest) {
		return resources.Target{}, "is ambiguous: accounts and projects may stand only as accounts/{id} and projects/{id}, in this order, at its beginning"
	}
	for _, id := range []string{t.AccountID, t.ProjectID} {
		if id != "" && !resources.ValidID(id) {
			return resources.Target{}, "names an account or project that is not 1 to 128 characters of [A-Za-z0-9._@-]"
		}
	}
	t.Rest, t.Resource = rest, resourceIn(rest)
	return t, ""
}

// resourceIn returns the resource that a path names in its place, "" for none: its first two segments.
func resourceIn(rest string) string {
	if first, second, _, ok := twoSegments(rest); ok {
		return rest[:len(first)+len("/")+len(second)]
	}
	return ""
}

// twoSegments cuts the first two segments from a path.
func twoSegments(path string) (first, second, rest string, ok bool) {
	first, rest, ok = strings.Cut(path, "/")
	second, rest, _ = strings.Cut(rest, "/")
	return first, second, rest, ok
}

// ambiguous reports whether a word for places stands in front of none. The projects of an account (`projects` alone)
// are the one exception.
func ambiguous(t resources.Target, rest string) bool {
	if rest == wordProjects && t.ProjectID == "" {
		return isPlaceWord(t.AccountID)
	}
	for segment := range strings.SplitSeq(rest, "/") {
		if isPlaceWord(segment) {
			return true
		}
	}
	return isPlaceWord(t.AccountID) || isPlaceWord(t.ProjectID)
}

// isPlaceWord reads the segment as a server does that decodes first, and trims: letters beyond
// ASCII fold into ASCII ones too (U+017F is an s).
func isPlaceWord(segment string) bool {
	if decoded, err := url.PathUnescape(segment); err == nil {
		segment = strings.TrimSpace(decoded)
	}
	return strings.EqualFold(segment, wordAccounts) || strings.EqualFold(segment, wordProjects)
}
