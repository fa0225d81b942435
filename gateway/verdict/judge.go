package verdict

import (
	"context"
	"errors"
	"slices"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

var errNoDoor = errors.New("verdict: questions without a door, whose action is the right to ask")

// CodeAgentRole is the code of a denial for an agent without the permission that its user has.
const CodeAgentRole = "needs_agent_role"

// asking is the judging of the questions that one caller asks together at a door. It is for one goroutine.
type asking struct {
	*Judge
	tree   Tree
	caller *resources.Principal
	door   *route.Row
	now    resources.Time
	// acting says that an agent makes the call in question for the caller. It needs no right to ask.
	acting bool
	// byUser says that the right to ask depends on the subject.
	byUser bool
	first  account
	// begun says that the facts of an account were read.
	begun bool
	// accounts are the further accounts in question; nil for none.
	accounts   map[string]*account
	judgements []*resources.Judgement
	// room has what a single question needs.
	room struct {
		pairs    [2]resources.About
		facts    [2]resources.Facts
		question [1]resources.Question
		verdicts [1]*resources.Judgement
		out      [1]Outcome
	}
}

// Judge judges whether the caller may ask the questions at the door, and then the questions, in their order. It stops
// behind the first outcome for which until returns true; a nil until judges all. Of a question it needs the subject,
// the account, the action or the app, and the place. An outcome has the error of its own question. The returned error
// is of KindUnavailable, for unreadable facts or a log that can't take the verdicts. There are no outcomes beside it.
func (j *Judge) Judge(
	ctx context.Context, caller *resources.Principal, door *route.Row, questions []resources.Question, until func(*Outcome) bool,
) ([]Outcome, error) {
	a, err := j.begin(caller, door)
	if err != nil {
		return nil, err
	}
	return a.judge(ctx, questions, until)
}

// begin returns the judging of questions by the tree that is in force now.
func (j *Judge) begin(caller *resources.Principal, door *route.Row) (*asking, error) {
	if door == nil {
		return nil, unavailable(errNoDoor)
	}
	a := &asking{Judge: j, tree: j.Pin(), caller: caller, door: door, now: resources.At(j.Now())}
	a.byUser = a.tree.AccessByUser(caller.Kind)
	a.first.pairs, a.first.facts, a.judgements = a.room.pairs[:0], a.room.facts[:0], a.room.verdicts[:0]
	return a, nil
}

// judge judges the questions and records the verdicts.
func (a *asking) judge(ctx context.Context, questions []resources.Question, until func(*Outcome) bool) ([]Outcome, error) {
	for i := range questions {
		a.need(&questions[i])
	}
	out := slices.Grow(a.room.out[:0], len(questions))
	for i := range questions {
		o, err := a.answer(ctx, &questions[i])
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, unavailable(err)
		}
		if out = append(out, o); until != nil && until(&out[len(out)-1]) {
			break
		}
	}
	if err := a.record(ctx, a.judgements...); err != nil {
		return nil, err
	}
	return out, nil
}

// One judges a single question. An error of the batch is the outcome's.
func (j *Judge) One(ctx context.Context, caller *resources.Principal, door *route.Row, q resources.Question) Outcome {
	return j.one(ctx, caller, door, q, false)
}

// Acting judges whether the question's agent may make the call of a row for the caller, who is the subject. Both need the
// action: what the row lets the caller do without it, the agent may not do. The outcome is that of One.
func (j *Judge) Acting(ctx context.Context, caller *resources.Principal, row *route.Row, q resources.Question) Outcome {
	return j.one(ctx, caller, row, q, true)
}

func (j *Judge) one(ctx context.Context, caller *resources.Principal, door *route.Row, q resources.Question, acting bool) Outcome {
	a, err := j.begin(caller, door)
	if err != nil {
		return Outcome{Err: err}
	}
	a.acting = acting
	a.room.question[0] = q
	out, err := a.judge(ctx, a.room.question[:], nil)
	if err != nil {
		return Outcome{Err: err}
	}
	return out[0]
}

// answer judges the right to ask and then the question.
func (a *asking) answer(ctx context.Context, q *resources.Question) (Outcome, error) {
	account := a.accountOf(q.AccountID)
	if err := a.gatherFor(ctx, account); err != nil {
		return Outcome{}, err
	}
	refused, err := a.right(ctx, account, q)
	if err != nil {
		return Outcome{}, err
	}
	if refused != nil {
		return *refused, nil
	}
	asked := *q
	asked.Principal, asked.Route, asked.Now, asked.AccountID = *a.caller, &a.door.Route, a.now, account.id
	asked.Facts, asked.Call = account.facts[account.place(a.pair(q))], nil // no record has the arguments
	if q.App != nil {
		asked.Facts.Subject = a.forApp(asked.Facts.Subject)
	}
	if a.isAgents(q) {
		asked.Facts.Subject, asked.Facts.Agent = asAgents(q, asked.Facts.Agent), nil
	}
	if asked.Agent != nil {
		if !MayNameAgent(a.caller, q.SubjectID) {
			return Outcome{Err: resources.Forbidden("An agent is named by its user, or by a service with the scope %s.", resources.ServiceScopeCheck)}, nil
		}
		asked.Agent = asked.Agent.In(&asked)
	}
	ofAgent := asked
	o := a.decide(ctx, &asked)
	if o.Err != nil {
		return Outcome{Err: o.Err}, nil //nolint:nilerr // it is the outcome's
	}
	o.AccountRevision = RevisionFor(a.caller, account.id, asked.Facts.Revision)
	if asked.Agent != nil {
		o.AgentID = asked.Agent.ID
	}
	a.tell(resources.PathDecision, &o, &asked)
	last := len(a.judgements) - 1
	if o.Allowed && asked.Agent != nil {
		a.asAgent(ctx, &o, ofAgent)
	}
	if o.Allowed {
		err = a.withhold(ctx, q, &o, last)
	}
	if err != nil {
		return Outcome{Err: unavailable(err)}, nil
	}
	return o, nil
}

// withhold denies what policy allows, also in the judgement with that index, -1 for none. With an error the judgement is a
// denial without a code.
func (a *asking) withhold(ctx context.Context, q *resources.Question, o *Outcome, index int) error {
	denied, err := a.withheld(ctx, q, o.AgentID)
	if err == nil && denied.Code == "" {
		return nil
	}
	if err != nil {
		denied = resources.Denial{Reason: "there is no verdict on the arguments"}
	}
	o.Allowed, o.Code, o.Reason, o.Quotes = false, denied.Code, denied.Reason, denied.Quotes
	if index >= 0 {
		noted := a.judgements[index]
		if noted.Decision, noted.Unasked = o.Decision, true; o.Quotes {
			noted.Decision.Reason = ""
		}
	}
	return err
}

// MayNameAgent reports whether the caller may ask what an agent may do for the user: a service with the scope to ask, and
// the user. Comparisons of trees ask about no other agent (policies/compare).
func MayNameAgent(caller *resources.Principal, user string) bool {
	return caller.HasScope(resources.ServiceScopeCheck) || user != "" && userOf(caller) == user
}

// asAgent denies a use that the user is allowed and the agent is not, on the same facts. It records the agent's verdict
// inside the user's.
func (a *asking) asAgent(ctx context.Context, o *Outcome, q resources.Question) {
	q.SubjectID, q.Facts.Subject, q.Agent = q.Agent.ID, q.Facts.Agent, nil
	agent := a.decide(ctx, &q)
	if agent.Err != nil {
		*o = Outcome{Err: agent.Err}
		return
	}
	a.tell(resources.PathDecision, &agent, &q)
	if a.Log != nil {
		a.judgements[len(a.judgements)-1].ParentID = o.ID
	}
	if !agent.Allowed {
		o.Allowed, o.Code, o.Reason = false, CodeAgentRole, "no active role of the agent grants the action"
	}
}

// decide has policy, or an app of it, decide.
func (a *asking) decide(ctx context.Context, q *resources.Question) (o Outcome) {
	state := takeState(q)
	switch {
	case q.Denied != "":
		o.Decision, o.unasked = resources.Decision{Reason: q.Denied, PolicyRevision: a.tree.Revision()}, true
	case q.App != nil:
		var d resources.AppDecision
		d, o.Err = a.tree.DecideApp(ctx, *q)
		o.Decision, o.Context = d.Decision, d.Context
	default:
		o.Decision, o.Err = a.tree.Decide(ctx, *q)
	}
	if o.Err != nil && !resources.IsKind(o.Err, resources.KindBadRequest) { // an app's: what was sent is not a question
		o.Err = unavailable(o.Err)
	}
	o.through(state, q)
	return o
}

// isAgents reports whether the question is that of an agent without a user, about itself. Nobody else asks about an agent
// as the subject.
func (a *asking) isAgents(q *resources.Question) bool {
	return a.caller.Kind == resources.PrincipalAgent && q.SubjectID == a.caller.ID && q.App == nil && q.Agent == nil
}

// asAgents returns the agent as a subject. A client that is another agent's by now is an unknown agent.
func asAgents(q *resources.Question, agent *resources.Subject) *resources.Subject {
	if agent == nil || agent.UserID != q.SubjectID {
		return &resources.Subject{AccountID: q.AccountID, UserID: q.SubjectID}
	}
	return agent
}

// right judges whether the caller may ask about the subject: once per subject, or once per account if policy does not
// read the subject. It returns the refusal of this question, with an id of its own; nil means allowed. An agent without a
// user may ask about itself at the door. An agent with a user asks nothing: it makes a call. Only services may ask an
// app about other subjects than users: no role grants it outside of an account.
func (a *asking) right(ctx context.Context, acct *account, q *resources.Question) (*Outcome, error) {
	if a.acting || a.isAgents(q) {
		return nil, nil //nolint:nilnil // nil is no refusal
	}
	subject := q.SubjectID
	if q.App != nil && subject == "" {
		acct = a.accountOf("")
		if err := a.gather(ctx, acct); err != nil {
			return nil, err
		}
	}
	if !a.byUser {
		subject = ""
	}
	if !acct.judged || acct.subject != subject {
		asking := rightToAsk(a.door, acct.id, subject)
		asking.Now, asking.Facts = a.now, acct.facts[0]
		o, asked := enter(ctx, a.tree, a.caller, a.door, asking)
		acct.judged, acct.subject, acct.refused = true, subject, nil
		if o.refuse(); o.Err != nil {
			refused, question := o, asked // no allowed question takes memory for them
			acct.refused, acct.asked = &refused, &question
		}
	}
	switch {
	case acct.refused == nil:
		return nil, nil //nolint:nilnil // nil is no refusal
	case !resources.IsKind(acct.refused.Err, resources.KindForbidden):
		return &Outcome{Err: acct.refused.Err}, nil
	}
	o := *acct.refused
	a.tell(resources.PathAccess, &o, acct.asked)
	return &o, nil
}

// rightToAsk returns the question whether somebody may ask about the subject at the door.
func rightToAsk(door *route.Row, account, subject string) resources.Question {
	return resources.Question{Action: door.Action, AccountID: account, Target: resources.Target{UserID: subject}, Route: &door.Route}
}

// MayAsk judges whether the caller may ask at the door about the subject in the account, as Enter does.
func (j *Judge) MayAsk(ctx context.Context, caller *resources.Principal, door *route.Row, account, subject string) Outcome {
	return j.Enter(ctx, caller, door, rightToAsk(door, account, subject))
}

// tell names a verdict, and notes it for the log.
func (a *asking) tell(path string, o *Outcome, q *resources.Question) {
	if a.name(o); a.Log == nil {
		return
	}
	if q.App != nil {
		app, _ := a.tree.App(q.App.ResourceType)
		path = resources.PathApps + app.Name + "/decision"
	}
	a.judgements = append(a.judgements, judgement(path, o, q))
}

// judgement is what the log takes of a verdict.
func judgement(path string, o *Outcome, q *resources.Question) *resources.Judgement {
	return &resources.Judgement{ID: o.ID, Path: path, Question: *q, Decision: o.Decision, Context: o.Context, Unasked: o.unasked}
}
