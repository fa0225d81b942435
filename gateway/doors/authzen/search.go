package authzen

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Wanted is what a search finds.
type Wanted int

// The searches.
const (
	Subjects Wanted = iota
	Resources
	Actions
)

// Search answers `POST /access/v1/search/subject`, `/resource` or `/action`: each result is one for which
// evaluation says true. All of its fields are needed.
type Search struct {
	Questions
	Of        Wanted
	Directory Directory
	// Elsewhere are the types of resources that the directory does not hold.
	Elsewhere map[string]bool
	Tokens    wire.PageTokens
}

// Answer implements doors.Door.
func (s Search) Answer(ctx context.Context, c doors.Call) (doors.Answer, error) {
	judge := s.Judge.Pinned().Quiet() // no caller gets a candidate's denial
	q := search{Search: s, translator: newTranslator(judge, &c)}
	if err := read(c, &q.Tuple, q.member); err != nil {
		return doors.Answer{}, err
	}
	binding, err := q.begin(ctx)
	if err != nil {
		return doors.Answer{}, err
	}
	a := doors.Answer{Subject: q.subject, Account: q.account}
	if s.Of != Actions {
		a.Action = q.probe.Action.ID
	}
	if a.Outcome = judge.MayAsk(ctx, c.Caller, c.Row, q.account, q.subject); a.Outcome.Err != nil {
		return a, a.Outcome.Err
	}
	w, complete, err := q.find(ctx)
	c.Rates.Owe(max(0, w.judged-1) / judgedForOne) // one was charged for the call
	if err == nil && w.judged > 0 && q.account != "" && w.revision < a.Outcome.AccountRevision {
		err = doors.ErrOldSnapshot
	}
	if err != nil {
		a.Outcome = verdict.Outcome{}
		return a, doors.OrUnavailable(err, "The search could not be made now; try again.")
	}
	out := answer{Results: w.results, Context: answerContext{Complete: complete, PolicyRevision: q.tree.Revision()}}
	if q.account != "" {
		revision := verdict.RevisionFor(c.Caller, q.account, cmp.Or(w.revision, a.Outcome.AccountRevision))
		out.Context.AccountRevision = &revision
	}
	if w.more {
		out.Page.NextToken = q.seal(s.Tokens, binding, w.last)
	}
	a.Status = 200
	a.Body, err = json.Marshal(out)
	return a, err
}

// judgedForOne is how many candidates a search judges for one of its caller's rate.
const judgedForOne = 100

type search struct {
	Search
	*translator
	page
	// start is where the page begins.
	start Place
	// account is the account in question, "" for none; differ says that two are named.
	account string
	differ  bool
	// subject is the user in question, "" if subjects are looked for.
	subject string
	// probe is the question with any id or name in place of what is looked for.
	probe resources.Question
}

// inOwnAccount names the caller's account: the caller may search for the users of no other one.
func (q *search) inOwnAccount() {
	c := Context{}
	if q.Context != nil {
		c = *q.Context
	}
	c.Account = q.call.Caller.AccountID
	q.Context = &c
}

// begin reads what the request asks. The error is a 400 with all problems, or that of a look-up.
func (q *search) begin(ctx context.Context) (binding string, err error) {
	q.ignoreSought()
	q.complete(q.Of != Subjects, q.Of != Resources, q.Of != Actions && !q.namesRow())
	if binding, err = q.binding(q.call.Row.Route.Name, *q.call.Caller); err != nil {
		return "", err
	}
	q.start = q.after(q.Tokens, binding)
	if q.Of == Subjects && q.asksAboutOther("") && !q.namesAccount() && q.namesProject() {
		q.inOwnAccount()
	}
	q.account, q.differ = (&native{Tuple: &q.Tuple}).account()
	if q.Of == Subjects && q.account == "" && !q.asksAboutOther("") && q.forUsersNowhere() {
		q.problem("context.account_id", "is missing; a search for users names an account or a project")
	}
	if q.arguments() != nil && q.ofMCPServer() {
		q.problem("context.arguments", "must not be sent: a search finds rows, whatever the arguments of a call")
	}
	if len(q.Problems) > 0 {
		return "", resources.BadRequest(q.Problems...)
	}
	q.account, q.subject = strings.Clone(q.account), strings.Clone(q.user()) // caches keep them
	if q.account, err = q.orHome(ctx, q.account, q.subject); err != nil {
		return "", err
	}
	probed := q.any()
	q.probe, err = q.question(ctx, &probed)
	return binding, err
}

// ignoreSought takes away the id or the action in place of what is looked for, with the problems of it: it is of no meaning
// (Authorization API 1.0, 8.4 and 8.5).
func (q *search) ignoreSought() {
	field := "action"
	switch q.Of {
	case Subjects:
		if field = "subject.id"; q.Subject != nil {
			q.Subject.ID = ""
		}
	case Resources:
		if field = "resource.id"; q.Resource != nil {
			q.Resource.ID = ""
		}
	case Actions:
		q.Action = nil
	}
	q.Problems = slices.DeleteFunc(q.Problems, func(p resources.Problem) bool {
		return p.Field == field || strings.HasPrefix(p.Field, field+".")
	})
}

// forUsersNowhere reports whether users are looked for and the resource, which no app claims, names no project.
func (q *search) forUsersNowhere() bool {
	if q.Subject == nil || !isUser(q.Subject.Type) || q.Resource == nil {
		return false
	}
	_, claimed := q.tree.App(q.Resource.Type)
	return !claimed && !q.namesProject()
}

// any returns the question with something in place of what is looked for, whose other parts are then held
// to the rules of an evaluation.
func (q *search) any() Tuple {
	out := q.Tuple
	switch q.Of {
	case Subjects:
		out.Subject = &Entity{Type: typeUser, ID: anyID}
	case Resources:
		entity := *q.Resource
		entity.ID = anyID
		if entity.Type == typeRoute {
			entity.ID = anyRoute
		}
		if entity.Properties.Project == "" && !entity.Properties.OddProject {
			entity.Properties.Project = anyID
		}
		out.Resource = &entity
	case Actions:
		out.Action = &Action{Name: anyAction}
		if q.Resource.Type == typeRoute {
			out.Action = &Action{Name: anyMethod}
		}
	}
	return out
}

// Texts for the part of the question that the search looks for.
const (
	anyID     = "any"
	anyRoute  = "/any"
	anyAction = "account:any:any"
	anyMethod = "GET"
)
