package raw_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestIdentityHeadersInTwoReadingsAreRefused by the program as it runs: 400, no
// decision, and the header is named.
func TestIdentityHeadersInTwoReadingsAreRefused(t *testing.T) {
	s := harness.NewScene(t, harness.Start(t, "--log-level", "debug"))
	before := len(s.Settled(t))
	var answers []harness.RawAnswer
	for i, name := range []string{"X-User-ID", "X-Account-ID", "X-Action"} {
		names := s.RawIdentity()
		good := strings.TrimPrefix(names[i], name+": ")
		under, small := strings.ReplaceAll(name, "-", "_"), strings.ToLower(name)
		for title, lines := range map[string][]string{
			"missing": nil, "twice": {name + ": " + good, name + ": " + good}, "two values": {name + ": " + good, name + ": other"},
			"two spellings": {name + ": " + good, small + ": other"}, "underscore beside": {name + ": " + good, under + ": other"}, "underscore first": {under + ": other", name + ": " + good},
			"underscore alone": {under + ": " + good}, "comma": {name + ": " + good + ",other"}, "spaces before": {name + ":   " + good}, "spaces after": {name + ": " + good + "  "},
			"tab": {name + ": " + good + "\t"}, "no-break space": {name + ": \u00a0" + good}, "empty beside": {name + ": " + good, name + ":"}, "quoted": {name + `: "` + good + `"`},
		} {
			t.Run(name+" "+title, func(t *testing.T) {
				rest := append([]string{}, names[:i]...)
				rest = append(append(rest, names[i+1:]...), lines...)
				a := harness.SendRaw(t, s.URL, s.RawHead("POST", "/api/v1/authorize/projects/"+s.Project+"/x", rest...))
				if a.Status != 400 || !strings.Contains(a.Body, name+": ") {
					t.Errorf("%d %s", a.Status, a.Body)
				}
				answers = append(answers, a)
			})
		}
	}
	for title, lines := range map[string][]string{
		"credential twice": {"Authorization: Bearer " + s.AdminToken}, "credential in lower case": {"authorization: Bearer " + s.AdminToken}, "empty credential beside": {"Authorization:"},
		"API key twice": {"X-API-Key: a", "X-API-Key: a"}, "API key with underscores": {"X-API-Key: a", "X_API_Key: a"},
	} {
		t.Run(title, func(t *testing.T) {
			for _, raw := range []string{s.RawQuestion("", lines...), s.RawHead("GET", "/api/v1/accounts/"+s.Account+"/roles", lines...)} {
				a := harness.SendRaw(t, s.URL, raw)
				if a.Status != 400 {
					t.Errorf("%d %s", a.Status, a.Body)
				}
				answers = append(answers, a)
			}
		})
	}
	s.CheckNothingAllowed(t, before, answers...)
}
