package decisions

import (
	"encoding/json"
	"errors"
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
	// follow says that after was sent.
	follow bool
	wait   time.Duration
	from   place
	// strangers says that the caller may read of subjects outside the account.
	strangers bool
	// binding names the list of page tokens, cursors that of cursors.
	binding, cursors string
}

// read reads the query of decision.list; 400 with all problems.
func (s *Service) read(r *wire.Request) (*input, error) {
	var p wire.Problems
	q, now := r.ParseQuery(&p), s.Now()
	search := Search{
		Account: r.Params["accountId"], User: q.ID("user"), Action: q.Text("action"), Place: q.Text("place"), Path: q.Text("path"),
		Verdict: q.OneOf("verdict", "", "allow", "deny"), Since: q.Text("since"), Until: q.Text("until"),
	}
	in := &input{
		size: q.PageSize(), follow: q.Has("after"), strangers: r.Principal.Kind == resources.PrincipalService,
		cursors: strings.Join([]string{"decision.list", "after", search.Account}, "\n"),
		binding: strings.Join([]string{
			"decision.list", search.Account, search.User, search.Action, search.Place, search.Path, search.Verdict, search.Since, search.Until,
		}, "\n"),
	}
	var err error
	in.filter, err = search.Filter(now)
	for _, bad := range wrongs(err) {
		p.Add(bad.Field, "%s", bad.Text)
	}
	if in.wait = q.Wait("wait"); q.Has("wait") && !in.follow {
		p.Add("wait", "goes with after")
	}
	parse := func(raw []byte) error { return json.Unmarshal(raw, &in.from) }
	if in.follow {
		// Each call of a follower is a decision itself, which would wake it again.
		in.filter.Except = ActionRead
		raw, ok := s.Tokens.Open(q.Text("after"), in.cursors)
		if !ok || parse(raw) != nil || in.from.Places == nil {
			p.Add("after", "is not a cursor of this account; begin with the after of the list")
		}
		if q.Has("page_token") {
			p.Add("page_token", "does not go with after")
		}
	} else {
		q.PageToken(s.Tokens, in.binding, parse)
	}
	if in.from.Began == 0 {
		in.from.Began = resources.At(now)
	}
	q.Done()
	return in, p.Err()
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

// question returns what gateways are asked.
func (in *input) question() *Question {
	q := &Question{
		Filter: in.filter, Forward: in.follow, Places: in.from.Places, Size: in.size, Within: searchTime.Milliseconds(), Strangers: in.strangers,
	}
	switch {
	case in.follow:
		q.Began = in.from.Began - clocksApart
	case in.from.Places != nil:
		q.Began = in.from.Began
	}
	return q
}
