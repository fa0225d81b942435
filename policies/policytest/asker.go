package policytest

import (
	"cmp"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// Catalogue is the routes, system roles and actions of a tree.
type Catalogue interface {
	Routes() []resources.Route
	Roles() []resources.Role
	Actions() []resources.ListedAction
}

// Asked is a question as the gateway asks it of an old tree and of a new one. The question is nil for a tree without
// the row.
type Asked struct {
	// Entry is decision, access or grantable. Route is the name of the row, in the new tree if both have it.
	Entry, Route string
	Questions    [2]*resources.Question
	tape         *tape
}

// Asker draws questions that the gateway can ask. They use the words of a change of a tree, so that many of them reach
// it.
type Asker struct {
	Random
	words             *Words
	rows              [2][]resources.Route
	actions, patterns []string
	named             []string // the patterns among the words of the change
	roles             [2][]string
	changed, routes   []string // places of rows: of those that differ between the trees, and of all
	drawn             []string // texts of the question that draw makes
}

// NewAsker returns an Asker for a change with these words.
func NewAsker(r Random, words *Words, before, after Catalogue) *Asker {
	a := &Asker{Random: r, words: words, patterns: []string{"*:*:*", "project:*:*", "account:*:*", "project:*:read", "account:user:update"}}
	rows := map[string][2]string{}
	for side, tree := range []Catalogue{before, after} {
		a.rows[side] = tree.Routes()
		for _, row := range a.rows[side] {
			pair := rows[placeOf(&row)]
			pair[side] = row.Name + row.Action + row.Effect + strings.Join(row.Access, " ")
			rows[placeOf(&row)] = pair
		}
		for _, role := range tree.Roles() {
			a.roles[side] = append(a.roles[side], role.ID)
			a.patterns = append(a.patterns, role.Permissions...)
		}
		for _, listed := range tree.Actions() {
			a.actions = append(a.actions, listed.ID)
		}
	}
	for place, pair := range rows {
		if a.routes = append(a.routes, place); pair[0] != pair[1] {
			a.changed = append(a.changed, place)
		}
	}
	for _, text := range words.Texts {
		if action, err := resources.ParseAction("project:" + text + ":start"); err == nil { // a resource of the change with a verb of no rule
			a.actions = append(a.actions, action.ID)
		}
		if _, err := resources.ParsePattern(text); err == nil {
			a.named = append(a.named, text)
			if action, err := resources.ParseAction(strings.ReplaceAll(text, "*", "thing")); err == nil {
				a.actions = append(a.actions, action.ID)
			}
		}
	}
	a.patterns = append(a.patterns, a.named...)
	for _, list := range []*[]string{&a.actions, &a.patterns, &a.changed, &a.routes} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return a
}

// parameter is a parameter of a path that stands for one part of it; anyParameter may also stand for the rest.
var (
	parameter    = regexp.MustCompile(`\{[^}+]*\}`)
	anyParameter = regexp.MustCompile(`\{[^}]*\}`)
)

// placeOf returns the method, host and path of a row, without the names of parameters.
func placeOf(row *resources.Route) string {
	return row.Method + " " + row.Host + parameter.ReplaceAllString(row.Path, "{}")
}

// tape is a source of random numbers that records them. Near replays a tape with one or two numbers changed.
type tape struct {
	numbers []uint64
	next    int
	*rand.Rand
}

// Uint64 implements rand.Source.
func (t *tape) Uint64() uint64 {
	if t.next == len(t.numbers) {
		t.numbers = append(t.numbers, t.Rand.Uint64())
	}
	t.next++
	return t.numbers[t.next-1]
}

// Ask draws a question at an entry point.
func (a *Asker) Ask(entry string) *Asked { return a.draw(entry, &tape{Rand: a.Rand}) }

// Near draws a question that differs from another one in a choice or two.
func (a *Asker) Near(other *Asked) *Asked {
	t := &tape{slices.Clone(other.tape.numbers), 0, a.Rand}
	for range 1 + a.IntN(2) {
		t.numbers[a.IntN(len(t.numbers))] = a.Uint64()
	}
	return a.draw(other.Entry, t)
}

func (a *Asker) draw(entry string, t *tape) *Asked {
	drawer := *a
	drawer.Random, drawer.drawn = Random{rand.New(t)}, nil //nolint:gosec // a test repeats it
	q := drawer.question(entry)
	q.Entry, q.tape = entry, t
	return q
}

// text returns one of the usual texts, a text near one of the change, or one that the question already has.
func (a *Asker) text(usual ...string) (text string) {
	switch n := a.IntN(8); {
	case n < 3 && len(a.words.Texts) > 0:
		text = a.near(a.words)
	case n == 3 && len(a.drawn) > 0:
		text = One(a.Rand, a.drawn...)
	default:
		text = One(a.Rand, usual...)
	}
	a.drawn = append(a.drawn, text)
	return text
}

func (a *Asker) id(usual ...string) string {
	if text := a.text(usual...); resources.ValidID(text) {
		return text
	}
	return usual[0]
}

func (a *Asker) time(usual ...resources.Time) resources.Time {
	if len(a.words.Times) > 0 && a.IntN(2) == 0 {
		return a.around(a.words)
	}
	return One(a.Rand, usual...)
}

func (a *Asker) question(entry string) *Asked {
	s := a.subject()
	q := resources.Question{AccountID: s.AccountID, Facts: resources.Facts{Subject: s}, Principal: a.caller(s, entry)}
	q.Now = a.time(Start, Start, Start+1, Start+5*3_600_000, Start+100*3_600_000)
	if entry != "decision" && q.Principal.Kind != resources.PrincipalUser { // the gateway looks up no user for a service
		q.Facts.Subject = &resources.Subject{AccountID: s.AccountID, AccountExists: s.AccountExists, AccountStatus: s.AccountStatus}
	}
	if entry == "access" {
		return a.call(q)
	}
	q.Target = a.target(&q)
	if entry == "grantable" {
		if q.Target.ProjectID == "" { // a grant is for an account, a project, or a resource in a project
			q.Target.Resource = ""
		}
		q.Target, q.Grant = resources.TargetAt(q.Target.ProjectID, q.Target.Resource), &resources.Grant{Permissions: a.held()}
		if a.IntN(2) == 0 {
			q.Grant.Until = max(q.Now+1, a.time(Start+1000, Start+2000, Start+3_600_000))
		}
		return &Asked{Questions: [2]*resources.Question{&q, &q}}
	}
	q.Action = a.action()
	if p := &q.Principal; p.HasScope(resources.ServiceScopeCheck) || p.Kind == resources.PrincipalUser && p.ID == s.UserID {
		q.Agent = Random{a.Rand}.agent()
	}
	out := &Asked{}
	for side := range out.Questions {
		asked := q
		asked.Route = a.rowAt(side, "authorization.check")
		out.Questions[side] = &asked
	}
	return out
}

func (a *Asker) rowAt(side int, name string) *resources.Route {
	for i := range a.rows[side] {
		if a.rows[side][i].Name == name {
			return &a.rows[side][i]
		}
	}
	return nil
}

// action returns a well-formed action: the gateway rejects others before it asks the policy.
func (a *Asker) action() resources.Action {
	for {
		id := One(a.Rand, a.actions...)
		if a.IntN(4) == 0 {
			id = One(a.Rand, "account", "project", "resource") + ":" + a.text("thing", "user", "instance") + ":" + a.text("read", "list", "update", "delete", "start")
		}
		if action, err := resources.ParseAction(id); err == nil {
			return action
		}
	}
}

// target draws the target of a path: an account, a project or a resource.
func (a *Asker) target(q *resources.Question) (t resources.Target) {
	if a.IntN(4) > 0 {
		t.AccountID = q.AccountID
		if a.IntN(6) == 0 {
			t.AccountID = a.id("acct-other-v1")
		}
	}
	if a.IntN(3) > 0 {
		t.ProjectID, q.Facts.ProjectState = a.id("proj-demo-v1"), a.state()
	}
	if a.IntN(2) == 0 {
		t.Rest = a.text("instances/i-1", "instances/i-1/disks", "instances", "disks/d-1")
	}
	return located(t)
}

func (a *Asker) state() string {
	return One(a.Rand, "active", "active", "active", "deleting", "absent")
}

// located returns the target with the resource of its rest.
func located(t resources.Target) resources.Target {
	t.Rest = strings.Trim(t.Rest, "/")
	if parts := strings.SplitN(t.Rest, "/", 3); len(parts) > 1 && parts[1] != "" {
		t.Resource = parts[0] + "/" + parts[1]
	}
	return t
}

// call draws a call of a row, half of the time of one that differs between the trees. Sometimes it draws the question of a
// proxy about an action without a row (resources.RouteNamed).
func (a *Asker) call(q resources.Question) *Asked {
	if a.IntN(10) == 0 {
		named := &resources.Route{Name: resources.RouteNamed, Method: "GET", Path: "/x", Action: a.action().ID, Upstream: resources.UpstreamExternal}
		q.Target = a.target(&q)
		q.AccountID = cmp.Or(q.Target.AccountID, q.Principal.AccountID)
		return a.asked([2]*resources.Route{named, named}, q)
	}
	var rows [2]*resources.Route
	place := One(a.Rand, a.routes...)
	if len(a.changed) > 0 && a.IntN(2) == 0 {
		place = One(a.Rand, a.changed...)
	}
	for side := range rows {
		for i := range a.rows[side] {
			if placeOf(&a.rows[side][i]) == place {
				rows[side] = &a.rows[side][i]
			}
		}
	}
	row := rows[1]
	if row == nil {
		row = rows[0]
	}
	if row.Upstream == resources.UpstreamAuthorize {
		q.Target = resources.Target{UserID: a.text(q.Principal.ID, q.Principal.ID, q.Principal.UUID, "user-eve-v1")}
		return a.asked(rows, q)
	}
	if q.Target.AccountID = ""; strings.Contains(row.Path, "accounts/{") {
		q.AccountID = cmp.Or(q.AccountID, "acct-none-v1")
		q.Target.AccountID = q.AccountID
	} else { // the account of the caller
		q.AccountID = q.Principal.AccountID
	}
	t := &q.Target
	path := anyParameter.ReplaceAllStringFunc(strings.TrimPrefix(row.Path, "/"), func(name string) string {
		switch name = strings.Trim(name, "{+}"); {
		case strings.HasPrefix(name, "account"):
			return q.AccountID
		case strings.HasPrefix(name, "project"):
			t.ProjectID = a.id("proj-demo-v1")
			return t.ProjectID
		case name == "userId" || name == "user_id":
			t.UserID = a.id(One(a.Rand, q.Principal.ID, q.Principal.UUID), "user-eve-v1")
			return t.UserID
		case strings.HasSuffix(row.Path, name+"+}"):
			return strings.Trim(a.text("instances/i-1", "instances"), "/")
		}
		return a.id("i-1")
	})
	path = strings.TrimPrefix(strings.TrimPrefix(path, "api/v1/"), "accounts/"+q.AccountID)
	if t.ProjectID != "" {
		path, q.Facts.ProjectState = strings.TrimPrefix(strings.TrimPrefix(path, "/"), "projects/"+t.ProjectID), a.state()
	}
	t.Rest = path
	q.Target = located(*t)
	return a.asked(rows, q)
}

// asked returns the call as the gateway asks each tree about it.
func (a *Asker) asked(rows [2]*resources.Route, q resources.Question) *Asked {
	out := &Asked{}
	for side, row := range rows {
		if row == nil {
			continue
		}
		asked := q
		if asked.AccountID == "" && asked.Facts.Subject != nil {
			asked.Facts.Subject = &resources.Subject{UserID: q.Facts.Subject.UserID, UserUUID: q.Facts.Subject.UserUUID, UserExists: q.Facts.Subject.UserExists, UserStatus: q.Facts.Subject.UserStatus}
		}
		asked.Route, out.Route = row, row.Name
		asked.Action, _ = resources.ParseAction(row.Action)
		if asked.Action.Scope == resources.ScopeAccount {
			asked.Target.ProjectID, asked.Facts.ProjectState = "", ""
		}
		if slices.Contains(row.Access, "public") {
			asked.Principal, asked.Facts = resources.Principal{Kind: resources.PrincipalNone, Credential: resources.CredentialNone}, resources.Facts{}
			asked.AccountID = asked.Target.AccountID
		}
		out.Questions[side] = &asked
	}
	return out
}
