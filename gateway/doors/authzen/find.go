package authzen

import (
	"context"
	"slices"
	"sort"
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/catalogue"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// find makes the page. complete is false if there may be results unknown to the search.
func (q *search) find(ctx context.Context) (w walk, complete bool, err error) {
	app, claimed := q.tree.App(q.Resource.Type)
	switch {
	case claimed:
		all, complete := q.ofApp(&app)
		w, err = q.among(ctx, all)
		return w, complete, err
	case q.Of == Actions:
		w, err = q.among(ctx, q.actions())
		return w, !q.anyMethod(), err
	case q.Of == Subjects && (!isUser(q.Subject.Type) || q.account == ""), q.Of == Resources && !stored(q.Resource.Type):
		return q.newWalk(), false, nil
	case q.differ || q.account == "":
		return q.newWalk(), true, nil
	}
	w, err = q.inStore(ctx)
	return w, q.tree.ByRoles() && (q.Of != Resources || !q.Elsewhere[q.Resource.Type]), err
}

// among makes the page of what is known without a look into the store.
func (q *search) among(ctx context.Context, all []candidate) (walk, error) {
	return q.walk(ctx, func(after Place, size int) (chunk, error) {
		rest := behind(all, after)
		return q.chunk(ctx, q.judge.Facts, rest[:min(len(rest), size)])
	})
}

// inStore makes the page of what is found in the store, and judges while no snapshot is held.
func (q *search) inStore(ctx context.Context) (walk, error) {
	find := q.users
	if q.Of == Resources {
		find = q.resources
	}
	return q.walk(ctx, func(after Place, size int) (c chunk, err error) {
		err = q.Directory.Look(ctx, q.account, func(s Snapshot) error {
			candidates, err := find(ctx, s, after, size)
			if err == nil {
				c, err = q.chunk(ctx, s, candidates)
			}
			return err
		})
		return c, err
	})
}

// chunk is candidates with their questions, and a judge that has their facts, all at one revision of the account in
// question.
type chunk struct {
	candidates []candidate
	questions  []resources.Question
	judge      *verdict.Judge
	revision   int64
}

// chunk gathers the facts for the candidates.
func (q *search) chunk(ctx context.Context, facts verdict.FactSource, candidates []candidate) (c chunk, err error) {
	c = chunk{candidates: candidates, judge: q.judge, questions: make([]resources.Question, len(candidates))}
	for i := range candidates {
		if c.questions[i], err = q.question(ctx, &candidates[i].tuple); err != nil {
			return chunk{}, err
		}
	}
	if q.account != "" {
		c.judge, c.revision, err = q.judge.Gathered(ctx, facts, q.call.Caller, q.call.Row, q.account, c.questions)
	}
	return c, err
}

// stored says whether resources of the type are stored.
func stored(kind string) bool {
	return slices.Contains([]string{typeAccount, typeProject, TypeSecurityGroup, TypeKubernetesCluster, TypeGPUCluster}, kind)
}

// grant returns what a candidate must hold.
func (q *search) grant() Grant {
	return Grant{Action: q.probe.Action, SystemRoles: q.tree.Granting(q.probe.Action)}
}

// users returns the next users who may do the action there.
func (q *search) users(ctx context.Context, s Snapshot, after Place, limit int) ([]candidate, error) {
	if q.probe.Denied != "" {
		return nil, nil
	}
	ids, err := s.Holders(ctx, q.grant(), q.probe.Target, after.ID, limit)
	out := make([]candidate, len(ids))
	for i, id := range ids {
		out[i] = candidate{place: Place{ID: id}, tuple: q.Tuple, result: result{Type: q.Subject.Type, ID: id}}
		out[i].tuple.Subject = &Entity{Type: typeUser, ID: id}
	}
	return out, err
}

// resources returns the next resources with which the subject may do the action.
func (q *search) resources(ctx context.Context, s Snapshot, after Place, limit int) ([]candidate, error) {
	places, err := q.places(ctx, s, after, limit)
	if err != nil {
		return nil, err
	}
	out := make([]candidate, len(places))
	for i, place := range places {
		where := resultPlace{Account: q.account, Project: place.ProjectID}
		out[i] = candidate{place: place, tuple: q.Tuple, result: result{Type: q.Resource.Type, ID: place.ID, Properties: &where}}
		out[i].tuple.Resource = &Entity{
			Type: q.Resource.Type, ID: place.ID, Properties: Properties{Account: where.Account, Project: where.Project},
		}
	}
	return out, nil
}

// places returns where the next resources are.
func (q *search) places(ctx context.Context, s Snapshot, after Place, limit int) ([]Place, error) {
	project := q.Resource.Properties.Project
	switch {
	case q.Resource.Type != typeAccount:
		return s.Stored(ctx, q.grant(), q.subject, q.Resource.Type, project, after, limit)
	case after == Place{} && project == "":
		return []Place{{ID: q.account}}, nil
	}
	return nil, nil
}

// actions returns the known actions, on a route the methods.
func (q *search) actions() []candidate {
	names := q.tree.Actions()
	switch q.Resource.Type {
	case typeMCPServer:
		names = nil
		if server := q.tree.MCPServer(q.server()); server != nil {
			names = mcp.RowNames(server)
		}
	case typeTool, typePrompt, typeResource:
		names = slices.Clone(uses[q.Resource.Type])
		if r, ok := q.row(q.tree, ""); ok && r.Action() != "" {
			names = append(names, r.Action())
		}
	case typeRoute:
		names = []string{"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"} // those that rows have
	}
	return q.named(names)
}

// anyMethod reports whether a row for any method is for the route: evaluation may say true of methods that nobody can list.
func (q *search) anyMethod() bool {
	return q.Resource.Type == typeRoute && q.call.Rows.AnyMethod(catalogue.Call{Host: q.Resource.Properties.Host, Path: q.Resource.ID})
}

// named returns the question with each of the actions.
func (q *search) named(names []string) []candidate {
	out := make([]candidate, len(names))
	for i, name := range names {
		r := result{Name: name}
		out[i] = candidate{place: Place{ID: name}, tuple: q.Tuple, result: r}
		out[i].tuple.Action = &Action{Name: name, Sent: r.marshal()}
	}
	return inOrder(out)
}

// ofApp returns what the app lists of what is looked for; complete is false if it lists nothing.
func (q *search) ofApp(app *resources.App) (all []candidate, complete bool) {
	switch q.Of {
	case Actions:
		return q.named(app.Actions), app.Actions != nil
	case Resources:
		return q.listed(app.Resources, *q.Resource, func(t *Tuple, e *Entity) { t.Resource = e }), app.Resources != nil
	default:
		return q.listed(app.Subjects, Entity{Type: q.Subject.Type}, func(t *Tuple, e *Entity) { t.Subject = e }), app.Subjects != nil
	}
}

// listed returns the question with each of the entities of the sought one's type, put in its place. The account that the
// sought one names is theirs.
func (q *search) listed(entities []resources.Entity, sought Entity, put func(*Tuple, *Entity)) []candidate {
	var out []candidate
	for _, e := range entities {
		if e.Type != sought.Type {
			continue
		}
		r := result{Type: e.Type, ID: e.ID}
		if account := sought.Properties.Account; account != "" {
			r.Properties = &resultPlace{Account: account}
		}
		c := candidate{place: Place{ID: e.ID}, tuple: q.Tuple, result: r}
		put(&c.tuple, &Entity{Type: e.Type, ID: e.ID, Properties: Properties{Account: sought.Properties.Account}, Sent: r.marshal()})
		out = append(out, c)
	}
	return inOrder(out)
}

// behind returns the candidates after the place, of candidates in order.
func behind(candidates []candidate, after Place) []candidate {
	return candidates[sort.Search(len(candidates), func(i int) bool { return candidates[i].place.ID > after.ID }):]
}

// inOrder returns each candidate once, by id.
func inOrder(candidates []candidate) []candidate {
	slices.SortFunc(candidates, func(a, b candidate) int { return strings.Compare(a.place.ID, b.place.ID) })
	return slices.CompactFunc(candidates, func(a, b candidate) bool { return a.place == b.place })
}
