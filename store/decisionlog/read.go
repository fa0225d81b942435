package decisionlog

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/portcullis-authz/portcullis/resources"
)

// Reader reads the logs of a folder, also while they are written.
type Reader struct {
	// Dir is the folder of Options.Dir.
	Dir string
	// Index, unless nil, makes Before and After faster.
	Index *Index
	// Progress, unless nil, is called with the number of segments that were read, and of all.
	Progress func(read, segments int)
	// Missing, unless nil, is called for each gap of the reading.
	Missing func(Missing)
}

// Filter says which records are wanted. The zero value wants all.
type Filter struct {
	ID string
	// User is the user in question, or the caller.
	User, Account, Action string
	// Place is a path, below the account or with it; what is below it counts, too.
	Place string
	// Path is what was asked, as authz/decision.
	Path string
	// Allowed, where it is not nil, is the verdict.
	Allowed *bool
	// Except is an action whose allowed calls are not wanted, "" for none.
	Except string
	// WithoutLookups leaves out what people look up.
	WithoutLookups bool `json:",omitempty"`
	// Since and Until bound the time, each where it is not zero.
	Since, Until resources.Time
}

// summary has the members that filters compare.
type summary struct {
	id, path, account, action, project, rest string
	users                                    []string
	allowed, decided                         bool
	// person is a user with a token, effect that of the route.
	person        bool
	route, effect string
}

// summary returns the compared members of the record.
func (r *Record) summary() summary {
	if t := r.whole; t != nil {
		a := summary{
			id: t.ID, path: t.Path, account: t.Account, action: t.Action, project: t.Target.ProjectID, rest: t.Target.Rest,
			users: []string{t.Caller.ID}, allowed: t.Allow, decided: t.Call == nil || t.Call.Outcome == nil,
			person: isPerson(t.Caller.Kind, t.Caller.Credential), route: t.Route.Name, effect: t.Route.Effect,
		}
		if r.subject != nil {
			a.users = append(a.users, r.subject.UserID)
		}
		return a
	}
	return r.event.summary()
}

// summary returns the compared members of what a mask has left. A part of another type, which a mask put there, hides no
// other part. Of an app's event it reads the facts: a caller may send anything beside them.
func (e *Event) summary() summary {
	input := object(e.Input)
	subject := text(input, "subject", "id")
	if strings.HasPrefix(e.Path, resources.PathApps) {
		if text(input, "subject", "type") != resources.PrincipalUser {
			subject = ""
		}
		input = object(input["facts"])
	}
	a := summary{
		id: e.DecisionID, path: e.Path, account: text(input, "account", "id"), action: text(input, "action", "id"),
		project: text(input, "target", "project"), rest: text(input, "target", "rest"), users: []string{text(input, "principal", "id"), subject},
		person: isPerson(text(input, "principal", "kind"), text(input, "principal", "credential")),
		route:  text(input, "route", "name"), effect: text(input, "route", "effect"),
	}
	result := object(e.Result)
	for _, name := range []string{"allow", "decision"} {
		var said *bool
		if json.Unmarshal(result[name], &said) == nil && said != nil {
			a.allowed, a.decided = *said, true
		}
	}
	return a
}

// Named returns the user in question, the action and the place, each "" for none and where a mask has removed it.
func (e *Event) Named() (user, action, place string) {
	a := e.summary()
	if place = a.place(); a.account == "" {
		place = strings.TrimPrefix(strings.TrimPrefix(place, accounts), "/")
	}
	return a.users[1], a.action, place
}

// text returns a text in a part of an input, "" for any other value.
func text(input map[string]jsontext.Value, part, name string) (text string) {
	if json.Unmarshal(object(input[part])[name], &text) != nil {
		return ""
	}
	return text
}

// Account returns the account in question, "" for none and where it was masked.
func (r *Record) Account() string { return r.summary().account }

// Matches says whether the record is wanted.
func (f *Filter) Matches(r *Record) bool {
	if f.Since != 0 && r.At < f.Since || f.Until != 0 && r.At > f.Until {
		return false
	}
	a := r.summary()
	is := func(want, got string) bool { return want == "" || want == got }
	return is(f.ID, a.id) && is(f.Account, a.account) && is(f.Action, a.action) && is(f.Path, a.path) &&
		(f.User == "" || a.users[0] == f.User || a.users[len(a.users)-1] == f.User) &&
		!f.excepts(&a) && (!f.WithoutLookups || !a.isLookup()) && (f.Allowed == nil || a.decided && a.allowed == *f.Allowed) && (f.Place == "" || a.isAt(f.Place))
}

// excepts says whether the record is an allowed call that the filter does not want.
func (f *Filter) excepts(a *summary) bool {
	return f.Except != "" && a.allowed && a.action == f.Except && a.path == resources.PathAccess
}

func isPerson(kind, credential string) bool {
	return kind == resources.PrincipalUser && credential == resources.CredentialToken
}

// routeOfBatches is the route of AuthZEN's batches of questions.
const routeOfBatches = "authzen.evaluations"

// isLookup says whether somebody looked at something with a token: an allowed call that only reads, or a question of a
// batch. A console asks such questions for its buttons, and hundreds for a matrix.
func (a *summary) isLookup() bool {
	switch a.path {
	case resources.PathAccess:
		return a.person && a.allowed && a.effect == resources.EffectRead
	case resources.PathDecision:
		return a.person && a.route == routeOfBatches
	}
	return false
}

// isAt reports whether the record is about the place or a part of it.
func (a *summary) isAt(place string) bool {
	place = strings.Trim(place, "/")
	if !strings.HasPrefix(place, accounts) {
		place = accounts + a.account + "/" + place
	}
	path := a.place()
	return path == place || strings.HasPrefix(path, place+"/")
}

const accounts = "accounts/"

// place returns the path of what the record is about.
func (a *summary) place() string {
	path := accounts + a.account
	if a.project != "" {
		path += "/projects/" + a.project
	}
	if a.rest != "" {
		path += "/" + a.rest
	}
	return path
}

// Newest calls fn with the records that match the filter, the newest first, until fn returns an error. Enough ends it
// without an error of Newest.
func (r Reader) Newest(ctx context.Context, f Filter, fn func(*Record) error) error {
	return r.merge(ctx, f, fn, true)
}

// Oldest is Newest in the order of time.
func (r Reader) Oldest(ctx context.Context, f Filter, fn func(*Record) error) error {
	return r.merge(ctx, f, fn, false)
}

// missing reports what the reading does not give.
func (r Reader) missing(m Missing) {
	if r.Missing != nil && m != (Missing{}) {
		r.Missing(m)
	}
}

// merge reads all logs at once.
func (r Reader) merge(ctx context.Context, f Filter, fn func(*Record) error, newest bool) error {
	dirs, err := logsIn(r.Dir)
	if err != nil {
		return err
	}
	all := make([]*paged, len(dirs))
	for i, dir := range dirs {
		next, stop := iter.Pull2(r.records(ctx, dir, f, newest))
		defer stop()
		all[i] = &paged{next: next}
	}
	var page Page
	for {
		first, err := page.first(ctx, all, time.Time{}, newest)
		if first == nil || err != nil {
			return err
		}
		if err := fn(first.now.Record); errors.Is(err, errStop) {
			return nil
		} else if err != nil {
			return err
		}
		first.now = nil
	}
}

// Enough returns the error by which fn ends a reading.
func Enough() error { return errStop }

// Follow calls fn with each new record until the context ends, and first with those since from: reading the existing logs
// takes time. It looks for new records on each value of look.
func (r Reader) Follow(ctx context.Context, f Filter, since resources.Time, look <-chan time.Time, fn func(*Record) error) error {
	cursors := map[string]*cursor{}
	for first := true; ; first = false {
		dirs, err := logsIn(r.Dir)
		if err != nil {
			return err
		}
		for _, dir := range dirs {
			if cursors[dir] == nil {
				cursors[dir] = newCursor(dir, position{}, func(error) { r.missing(Missing{Unreadable: 1}) })
			}
			err := cursors[dir].read(func(rec *Record) error {
				if err := ctx.Err(); err != nil {
					return err
				}
				if first && rec.At < since || !f.Matches(rec) {
					return nil
				}
				return fn(rec)
			})
			if ctx.Err() != nil {
				return nil //nolint:nilerr // the reader has gone
			}
			if err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-look:
		}
	}
}
