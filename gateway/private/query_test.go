package private_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/private"
)

// TestAFilterThatSaysNothingIsRefused guarantees that an empty or malformed parameter does not count as missing: its
// sender would get the decisions of all accounts.
func TestAFilterThatSaysNothingIsRefused(t *testing.T) {
	for raw, says := range map[string]string{
		"account=":                "account: must",
		"account":                 "account: must",
		"verdict=deny&user=":      "user: must",
		"since=":                  "since: must",
		"account=acct-a-v1;x=1":   "well-formed",
		"account=%zz":             "well-formed",
		"account=a&account=b":     "account: must be sent once",
		"colour=red":              "colour: must",
		"account=acct-a-v1&from=": "from: must",
	} {
		if q, err := private.ReadQuery(raw); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %+v, %v", raw, q, err)
		}
	}
	q, err := private.ReadQuery("account=acct-a-v1&verdict=deny&since=24h&limit=0&order=oldest&follow=false")
	if err != nil || q.Account != "acct-a-v1" || q.Verdict != "deny" || q.Since != "24h" || q.Limit != 0 || !q.Oldest || q.Follow {
		t.Errorf("%+v, %v", q, err)
	}
	if _, err := private.ReadQuery(""); err != nil {
		t.Errorf("no filter: %v", err)
	}
}
