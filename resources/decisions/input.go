package decisions

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// place is what a page token or a cursor holds: how far the logs are read, and when the first page was asked for.
type place struct {
	Began  resources.Time     `json:"t"`
	Places decisionlog.Places `json:"p"`
}

// input is what a caller asks for.
type input struct {
	filter decisionlog.Filter
	size   int
	// follow says that after was sent. newest asks for the newest behind it, and not the oldest.
	follow, newest bool
	wait           time.Duration
	start          place
	// strangers says that the caller may read of subjects outside the account.
	strangers bool
	// withoutInputs says that the caller does not want what policy read.
	withoutInputs bool
	// binding names the list of page tokens, cursors that of cursors.
	binding, cursors string
}

// read reads the query of decision.list; 400 with all problems.
func (s *Service) read(r *wire.Request) (*input, error) {
	var p wire.Problems
	q, now := r.ParseQuery(&p), s.Now()
	search := Search{
		ID: q.Text("id"), Account: r.Params["accountId"], User: q.ID("user"), Action: q.Text("action"), Place: q.Text("place"), Path: q.Text("path"),
		Verdict: q.OneOf("verdict", "", "allow", "deny"), Since: q.Text("since"), Until: q.Text("until"),
	}
	want := &input{
		size: q.PageSize(), follow: q.Has("after"), strangers: r.Principal.Kind == resources.PrincipalService,
		cursors: strings.Join([]string{"decision.list", "after", search.Account}, "\n"),
		binding: strings.Join([]string{
			"decision.list", search.ID, search.Account, search.User, search.Action, search.Place, search.Path, search.Verdict, search.Since, search.Until,
		}, "\n"),
	}
	search.validate(&p)
	var err error
	want.filter, err = search.Filter(now)
	for _, bad := range wrongs(err) {
		p.Add(bad.Field, "%s", bad.Text)
	}
	aroundID(&want.filter)
	lookups := q.OneOf("lookups", "true", "true", "false")
	want.filter.WithoutLookups = lookups == "false"
	inputs := q.OneOf("inputs", "true", "true", "false")
	want.withoutInputs = inputs == "false"
	want.binding += "\n" + lookups + "\n" + inputs
	if want.wait = q.Wait("wait"); q.Has("wait") && !want.follow {
		p.Add("wait", "goes with after")
	}
	if want.newest = q.OneOf("newest", "false", "true", "false") == "true"; q.Has("newest") && !want.follow {
		p.Add("newest", "goes with after")
	}
	parse := func(raw []byte) error { return json.Unmarshal(raw, &want.start) }
	if want.follow {
		// Each call of a follower is a decision itself, which would wake it again.
		want.filter.Except = ActionRead
		raw, ok := s.Tokens.Open(q.Text("after"), want.cursors)
		if !ok || parse(raw) != nil || want.start.Places == nil {
			p.Add("after", "is not a cursor of this account; begin with the after of the list")
		}
		if q.Has("page_token") {
			p.Add("page_token", "does not go with after")
		}
	} else {
		q.PageToken(s.Tokens, want.binding, parse)
	}
	if want.start.Began == 0 {
		want.start.Began = resources.At(now)
	}
	q.Done()
	return want, p.Err()
}

var (
	// placeForm is the characters of a path as it is recorded.
	placeForm = regexp.MustCompile(`^[A-Za-z0-9._~!$&'()*+,=:@%/-]*$`)
	pathForm  = regexp.MustCompile(`^(|authz/(decision|access|grantable)|apps/[A-Za-z0-9_.-]{1,128}/decision|mcp/(call|outcome))$`)
)

// validate adds a problem for each text that no decision has.
func (s *Search) validate(p *wire.Problems) {
	if _, ok := resources.ULIDMadeAt(s.ID); s.ID != "" && !ok {
		p.Add("id", "must be a decision_id, as 01m8d2vvdmwahhh34yr377kh56")
	}
	if _, err := resources.ParseAction(s.Action); s.Action != "" && err != nil {
		p.Add("action", "must be an action such as account:role:create")
	}
	if !placeForm.MatchString(s.Place) {
		p.Add("place", "must be a path in the account, such as projects/proj-demo-v1")
	}
	if !pathForm.MatchString(s.Path) {
		p.Add("path", "must be authz/decision, authz/access, authz/grantable, apps/<name>/decision, mcp/call or mcp/outcome")
	}
}

// idWithin is how far the time of a decision may be from that of its id, in milliseconds: a request is judged at the time
// of its arrival, and the decision gets its id when it is made.
const idWithin = resources.Time(60_000)

// aroundID bounds the search for an id to the time in it, so that it reads no whole log.
func aroundID(f *decisionlog.Filter) {
	made, ok := resources.ULIDMadeAt(f.ID)
	if !ok {
		return
	}
	f.Since = max(f.Since, made-idWithin)
	if until := made + idWithin; f.Until == 0 || f.Until > until {
		f.Until = until
	}
}

// wrongs returns the problems in an error of Search.Filter.
func wrongs(err error) (out []resources.Problem) {
	var all interface{ Unwrap() []error }
	if !errors.As(err, &all) {
		return nil
	}
	for _, one := range all.Unwrap() {
		if bad, ok := errors.AsType[wrong](one); ok {
			out = append(out, resources.Problem(bad))
		}
	}
	return out
}

// clocksApart is how far the clocks of gateways may differ, in milliseconds.
const clocksApart = resources.Time(60_000)

// searchTime bounds a search. The next one goes on from its end.
const searchTime = 2 * time.Second

// forward says that the oldest decisions come first.
func (want *input) forward() bool { return want.follow && !want.newest }

// question returns what gateways are asked.
func (want *input) question() *Question {
	q := &Question{
		Filter: want.filter, Forward: want.forward(), Places: want.start.Places, Size: want.size, Within: searchTime.Milliseconds(), Strangers: want.strangers,
		WithoutInputs: want.withoutInputs,
	}
	switch {
	case want.follow:
		q.Began = want.start.Began - clocksApart
	case want.start.Places != nil:
		q.Began = want.start.Began
	}
	return q
}
