package decisions

import (
	"context"
	"encoding/json"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// ActionRead is the action of those who read the decisions of an account.
const ActionRead = "account:decision:read"

// MaxWaiters bounds the clients that wait for decisions at once. One account has 200 of them at most (gate.Share).
const MaxWaiters = 228

// Config holds what the handlers work with.
type Config struct {
	// Own is the log of this process; nil where it keeps none.
	Own Source
	// Others returns the other gateways by the names that answers give them.
	Others func(ctx context.Context) map[string]Source
	// Watch says when the own log gets a record of an account.
	Watch func(account string) *decisionlog.Watch
	// Authorize refuses a caller who may not do the action in the account any more.
	Authorize func(ctx context.Context, p resources.Principal, account, action string) error
	Tokens    wire.PageTokens
	Now       func() time.Time
}

// Service holds the handlers of decisions.
type Service struct {
	Config
	waiters *gate.Gate
	feeds   feeds
}

// New makes the handlers.
func New(cfg Config) *Service { return &Service{Config: cfg, waiters: gate.New(MaxWaiters, 0)} }

// Routes returns the handlers by the names of their routes.
func (s *Service) Routes() wire.Routes {
	return wire.Named("decisions", wire.Routes{"decision.list": s.list})
}

// list answers decision.list. It authorizes the caller again when it has read the decisions: they may be younger than the
// verdict that has let the caller want.
func (s *Service) list(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if s.Own == nil {
		return wire.Response{}, &resources.Error{
			Kind: resources.KindNotFound, Message: "No decisions are recorded: the gateway runs with --decision-log off; set it to best-effort or required.",
		}
	}
	want, err := s.read(r)
	if err != nil {
		return wire.Response{}, err
	}
	switch {
	case want.newest:
		return s.latest(ctx, r, want)
	case want.follow:
		return s.decisionsAfter(ctx, r, want)
	}
	page := s.ask(ctx, want, want.question())
	if err := page.err(); err != nil {
		return wire.Response{}, err
	}
	out := page.body()
	if page.more {
		out.NextPageToken = s.seal(place{want.start.Began, page.places}, want.binding)
	}
	if want.start.Places == nil {
		out.After = s.seal(place{want.start.Began, page.ends}, want.cursors)
	}
	return s.shown(ctx, r, want, out)
}

// waiting is how far a client that waits has its decisions, and what tells of the next one in the own log.
type waiting struct {
	start place
	watch *decisionlog.Watch
}

// decisionsAfter answers with the decisions behind the cursor, the oldest first.
func (s *Service) decisionsAfter(ctx context.Context, r *wire.Request, want *input) (wire.Response, error) {
	watch := s.Watch(want.filter.Account) // before the log is read
	if before, resumed := r.Place.(waiting); resumed {
		want.start = before.start
		if before.watch.Quiet() {
			want.start.Places.Advance(watch.End)
		}
	}
	page := s.ask(ctx, want, want.question())
	if err := page.err(); err != nil {
		return wire.Response{}, err
	}
	now := place{want.start.Began, page.places}
	out := page.body()
	out.After = s.seal(now, want.cursors)
	if len(out.Decisions) > 0 || page.more {
		return s.shown(ctx, r, want, out)
	}
	answer, err := wire.OK(out)
	answer.Wait, answer.Wake, answer.Waiters, answer.Place = want.wait, watch.Written, s.waiters, waiting{now, watch}
	return answer, err
}

// shown answers with decisions, if the caller may read them now.
func (s *Service) shown(ctx context.Context, r *wire.Request, want *input, out listBody) (wire.Response, error) {
	if err := s.Authorize(ctx, r.Principal, want.filter.Account, ActionRead); err != nil {
		return wire.Response{}, err
	}
	return wire.OK(out)
}

func (s *Service) seal(p place, binding string) string {
	raw, err := json.Marshal(p)
	if err != nil {
		panic("decisions: places of numbers can't fail to render: " + err.Error())
	}
	return s.Tokens.Seal(raw, binding)
}
