package access

import (
	"context"
	"regexp"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/changes"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

const actionChangeRead = "account:change:read"

// changeList is the response of change.list.
type changeList struct {
	Changes       []resources.ShownChange `json:"changes"`
	NextPageToken string                  `json:"next_page_token"`
}

// listChanges answers change.list (N18): newest first, or oldest first behind the record after.
func (s *Service) listChanges(ctx context.Context, r *wire.Request) (wire.Response, error) {
	input, err := s.readChanges(r)
	if err != nil {
		return wire.Response{}, err
	}
	search, err := s.findChanges(ctx, r, input)
	if err != nil {
		return wire.Response{}, err
	}
	out := changeList{Changes: make([]resources.ShownChange, len(search.changes))}
	for i, c := range search.changes {
		out.Changes[i] = shown(c)
	}
	early := !search.full && !search.ended
	if early || search.full && !input.follow {
		out.NextPageToken = s.Tokens.Seal(search.query.After.Marshal(), input.binding)
	}
	answer, err := wire.OK(out)
	if len(search.changes) == 0 && !early {
		answer.Wait, answer.Place = input.wait, search.query.After
	}
	return answer, err
}

// placeOfChange returns the place behind the caller's record; 400 for another account's record, 410
// for an expired one. The time of a record is in its id.
func (s *Service) placeOfChange(ctx context.Context, tx store.Tx, input changeInput) (*store.Cursor, error) {
	rec, err := store.Lookup(s.c.Changes.Get(ctx, tx, input.after))
	if err != nil {
		return nil, err
	}
	kept := changes.Horizon(s.Now(), s.ChangeRetention)
	if rec != nil && rec.Value.AccountID == input.account && rec.Value.At >= kept {
		return s.c.Changes.CursorAt(input.query(), rec.Value), nil
	}
	made, ok := resources.MadeAt(resources.PrefixChange, input.after)
	if ok && made < kept {
		return nil, resources.Gone("The change %s is not kept any more; begin again with an empty after, or with the list.", input.after)
	}
	return nil, resources.BadRequest(resources.Problem{Field: "after", Text: "is no change of this account"})
}

// changeInput is what a caller asks for.
type changeInput struct {
	account                string
	size                   int
	actor, subject, action string
	since, until           resources.Time
	// follow says that after was sent; it is "" for the beginning.
	follow bool
	after  string
	wait   time.Duration
	// cursor is the place in the list of a page token; binding names the list.
	cursor  *store.Cursor
	binding string
}

// readChanges reads the query of change.list; 400 with all problems.
func (s *Service) readChanges(r *wire.Request) (changeInput, error) {
	var p wire.Problems
	q := r.ParseQuery(&p)
	input := changeInput{
		account: r.Params["accountId"], size: q.PageSize(), actor: q.ID("actor"), subject: q.ID("subject"), action: q.Text("action"),
		since: q.Time("since"), until: q.Time("until"), follow: q.Has("after"), after: q.ID("after"),
	}
	if input.action != "" && !isChangeAction(input.action) {
		p.Add("action", "must be an action such as account:role:create, or the name of a route without one, such as api_key.create")
	}
	if input.wait = q.Wait("wait"); q.Has("wait") && !input.follow {
		p.Add("wait", "goes with after")
	}
	input.binding = binding("change.list", input.account, input.actor, input.subject, input.action, input.since.String(), input.until.String())
	if input.follow {
		input.binding = binding(input.binding, "after", input.after)
	}
	list := input.query()
	q.PageToken(s.Tokens, input.binding, list.From)
	input.cursor = list.After
	q.Done()
	return input, p.Err()
}

// routeName is the form of a route's name, which stands for the action of a route without one.
var routeName = regexp.MustCompile(`^[a-z_]{1,64}\.[a-z_]{1,64}$`)

func isChangeAction(text string) bool {
	_, err := resources.ParseAction(text)
	return err == nil || routeName.MatchString(text)
}

// query returns the query of the records in their order.
func (c changeInput) query() store.Query {
	q := store.Query{Index: records.ByNewest, Equal: []store.Value{store.String(c.account)}, After: c.cursor}
	switch {
	case c.follow:
		q.Index = records.ByAccount
	case c.subject != "":
		q.Index, q.Equal = records.BySubject, append(q.Equal, store.String(c.subject))
	case c.actor != "":
		q.Index, q.Equal = records.ByActor, append(q.Equal, store.String(c.actor))
	}
	return q
}

// wants says whether the record is one that was asked for.
func (c changeInput) wants(change resources.Change) bool {
	return (c.actor == "" || change.Actor.ID == c.actor) && (c.subject == "" || change.Subject.ID == c.subject) &&
		(c.action == "" || change.Action == c.action) && change.At >= c.since && (c.until == 0 || change.At < c.until)
}

func shown(c resources.Change) resources.ShownChange {
	out := resources.ShownChange{
		ID: c.ID, At: c.At, AccountRevision: c.AccountRevision, Actor: c.Actor, RequestID: c.RequestID, Action: c.Action, Subject: c.Subject,
	}
	if c.Before != nil {
		out.Before = c.Before
	}
	if c.After != nil {
		out.After = c.After
	}
	return out
}
