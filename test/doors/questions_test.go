package doors_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// question is one that every door can ask, well-formed or not.
type question struct {
	caller                         caller
	subject, account, action, path string
}

func (q question) String() string {
	return fmt.Sprintf("%s asks whether %s may %s at %q in %s", q.caller.name, q.subject, q.action, q.path, q.account)
}

// answer is a door's answer: an HTTP status, and beside 200 and 403 the reason.
type answer struct {
	status  int
	allowed bool
	reason  string
}

func pick[T any](random *rand.Rand, values ...T) T { return values[random.IntN(len(values))] }

// actions are those that are asked about.
func actions() []string {
	return []string{
		"project:instance:read", "project:instance:create", "project:instance:start", "account:role:read", "account:user:invite",
		"resource:instance:stop", "project:security_group:read", "account:authorization:check",
	}
}

// accountOf returns the account of a user, which is in the id; "" is not known.
func accountOf(user string) string {
	name, ok := strings.CutPrefix(user, "user-team")
	if !ok {
		return ""
	}
	return "acct-team" + name[:strings.IndexFunc(name, func(r rune) bool { return r > '9' })] + "-v1"
}

// questions makes a corpus: most questions are of users about their own account, and well-formed.
func (w *doorsWorld) questions(random *rand.Rand, n int) []question {
	all := make([]question, n)
	for i := range all {
		q := question{caller: w.callers[0], subject: pick(random, w.users...), account: pick(random, w.accounts...)}
		if random.IntN(2) == 0 {
			if q.caller = pick(random, w.callers...); q.caller.user != "" && random.IntN(4) > 0 {
				q.subject = q.caller.user
			}
		}
		if self := accountOf(q.subject); self != "" && random.IntN(4) > 0 {
			q.account = self
		}
		q.action = pick(random, actions()...)
		q.path = w.path(random, q.account)
		if random.IntN(40) == 0 {
			q.action = pick(random, "", "read", "project:*:read", "project:instance:read:more", "Project:instance:read", "project:instance:"+strings.Repeat("a", 65))
		}
		if random.IntN(40) == 0 {
			q.account = pick(random, "a b", "a/b", "é", strings.Repeat("a", 129), "..")
		}
		all[i] = q
	}
	return all
}

// path is a place, now and then one that two servers could read differently.
func (w *doorsWorld) path(random *rand.Rand, account string) string {
	var b strings.Builder
	if random.IntN(4) == 0 {
		b.WriteString("api/v1/")
	}
	if random.IntN(3) > 0 {
		b.WriteString("accounts/" + pick(random, account, account, account, pick(random, w.accounts...)))
	}
	if random.IntN(4) > 0 {
		names := w.projects
		if ownNames := w.names[account]; ownNames != nil && random.IntN(4) > 0 {
			names = ownNames[:2]
		}
		b.WriteString("/projects/" + pick(random, names...))
	}
	b.WriteString(pick(random, "", "/x", "/instances", "/instances/i-1", "/security-groups/sg-1/rules", "/a%20b", "/caf%C3%A9", "/a:b@c", "/..."))
	path := strings.TrimPrefix(b.String(), "/")
	if random.IntN(8) == 0 {
		odd := pick(random, "", "/", "//", ".", "..", "%2e%2E", "%2f", "%5c", `\`, ";x", "%00", "%0a", "#x", "%61", "%zz", "%", "%FF", "%C2%85", "%EF%BC%8E", "accounts/a", "projects/p",
			"Projects/p", "accounts", strings.Repeat("a", 2049), "[0]", "|", "%u002e", "%2f|", "%5b^", "caf%C3%A9<", "é", "{x}", "a\"b")
		path = pick(random, path+"/"+odd, odd+"/"+path, path+odd, odd)
	}
	return path
}
