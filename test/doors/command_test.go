package doors_test

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// sample is how many questions the CLI is asked: each is a process of its own.
func sample() int { return many() * 3 / 100 }

// isCommand says whether the question can be asked by the CLI. One slash before the path is taken away
// there.
func (q question) isCommand() bool { return q.isSent() && !strings.HasPrefix(q.path, "/") }

// answers finds the gateway's answer in the CLI's error.
var answers = regexp.MustCompile(`the gateway answers ([0-9]+): (.*)`)

// askCommand is `portcullis check`. A question that was not decided in time is asked again.
func askCommand(t *testing.T, w *doorsWorld, q question) answer {
	var o harness.Outcome
	for range 20 {
		o = harness.Command(t, nil, "check", "--url", w.URL, "--token", q.caller.token, "--user", q.subject, "--account", q.account, "--action", q.action, "--", q.path)
		if !harness.SaysUndecided([]byte(o.Stderr)) {
			break
		}
	}
	verdict, reason, _ := strings.Cut(strings.TrimSuffix(o.Stdout, "\n"), ": ")
	switch {
	case o.Code == 0 && verdict == "allowed":
		return answer{200, true, reason}
	case o.Code == 1 && verdict == "denied":
		return answer{200, false, reason}
	}
	names := answers.FindStringSubmatch(o.Stderr)
	if o.Code != 2 || o.Stdout != "" {
		t.Errorf("%s: %+v", q, o)
	}
	if names == nil { // it was not asked
		return answer{status: 400}
	}
	a := answer{}
	a.status, _ = strconv.Atoi(names[1]) // digits
	if a.status == 403 && json.Valid([]byte(names[2])) {
		a.reason = refusal([]byte(names[2]))
	}
	return a
}
