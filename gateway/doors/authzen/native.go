package authzen

import (
	"cmp"
	"context"
	"maps"
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/catalogue"
	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// The native types of resources. A resource of any other type is one of a project.
const (
	typeAccount = "account"
	typeProject = "project"
	typePath    = "path"
	typeRoute   = "route"
)

// The types of a native subject, which are the same. The second one is COAZ-MCP's.
const (
	typeUser     = "user"
	typeIdentity = "identity"
)

// isUser reports whether subjects of the type are users.
func isUser(subjectType string) bool { return subjectType == typeUser || subjectType == typeIdentity }

// collections are the segments of a path by the types that have another name there.
var collections = map[string]string{
	TypeSecurityGroup: "security-groups", TypeKubernetesCluster: "kubernetes", TypeGPUCluster: "gpu-clusters",
}

// translator makes questions of requests, by the apps, the rows and the users that it knows.
type translator struct {
	judge *verdict.Judge
	tree  verdict.Tree
	call  *doors.Call
	// homes are the accounts of users that were looked up.
	homes map[string]string
}

// newTranslator returns the translator of a call, whose judge is pinned.
func newTranslator(judge *verdict.Judge, call *doors.Call) *translator {
	return &translator{judge: judge, tree: judge.Pin(), call: call}
}

// question returns the question of a tuple. The tuple has all entities, or problems for the missing ones. The error is
// of KindBadRequest, a look-up's, or doors.PolicyChanged.
func (t *translator) question(ctx context.Context, tuple *Tuple) (q resources.Question, err error) {
	if !tuple.reported("") {
		tuple.complete(true, true, !tuple.namesRow())
	}
	if tuple.Resource != nil {
		if _, claimed := t.tree.App(tuple.Resource.Type); claimed {
			return t.ofApp(ctx, tuple)
		}
	}
	n, err := t.native(tuple)
	if err != nil {
		return q, err
	}
	agent := t.agent(tuple)
	account, differ := n.account()
	if account == "" && tuple.Subject != nil && t.asksAboutOther(tuple.user()) {
		tuple.problem("context.account_id", mustName)
	}
	if len(tuple.Problems) > 0 {
		if n.path != "" {
			n.target("")
		}
		return q, resources.BadRequest(tuple.Problems...)
	}
	q.Action, q.Target, q.Through, q.Denied = n.action, n.place, n.through, n.denied
	if q.SubjectID = tuple.user(); q.SubjectID == "" {
		q.Denied = "the subject is no user"
	}
	if differ {
		q.Denied = "two accounts are named, and they differ"
	}
	if q.AccountID, err = t.orHome(ctx, account, q.SubjectID); err != nil {
		return q, err
	}
	if n.path != "" {
		q.Target = n.target(q.AccountID)
	}
	if len(tuple.Problems) > 0 {
		return resources.Question{}, resources.BadRequest(tuple.Problems...)
	}
	if agent.Named() {
		q.Agent = &resources.ActingAgent{Ref: agent}
	}
	if r, ok := tuple.row(t.tree, account); ok {
		denied := q.Denied
		q = ofRow(tuple, r, q.SubjectID, q.AccountID, agent)
		q.Denied = denied
	}
	return q, nil
}

// native reads the tuple's action and path. The error is doors.PolicyChanged.
func (t *translator) native(tuple *Tuple) (n native, err error) {
	n.Tuple = tuple
	switch {
	case tuple.Resource == nil || tuple.Action == nil && !tuple.namesRow():
		return n, nil
	case tuple.Resource.Type == typeRoute && t.call.Revision != t.tree.Revision():
		return n, doors.PolicyChanged(nil)
	}
	n.read(t.call.Rows)
	return n, nil
}

// ofApp returns the question of a tuple about a type that an app claims.
func (t *translator) ofApp(ctx context.Context, tuple *Tuple) (q resources.Question, err error) {
	n := native{Tuple: tuple}
	account, _ := n.account()
	if tuple.Context != nil && tuple.Context.Agent != "" {
		tuple.problem("context.agent", "must not be sent: an app of the policy decides about this type, and its answer can't be narrowed to an agent")
	}
	if len(tuple.Problems) > 0 {
		return q, resources.BadRequest(tuple.Problems...)
	}
	q.App = &resources.Entities{
		ResourceType: tuple.Resource.Type, Subject: tuple.Subject.Sent, Action: tuple.Action.Sent, Resource: tuple.Resource.Sent,
	}
	if tuple.Context != nil {
		q.App.Context = tuple.Context.Sent
	}
	q.SubjectID = tuple.user()
	q.AccountID, err = t.orHome(ctx, account, q.SubjectID)
	return q, err
}

// asksAboutOther reports whether the caller is not a service, and not that user.
func (t *translator) asksAboutOther(user string) bool {
	caller := t.call.Caller
	return caller.Kind != resources.PrincipalService && (caller.Kind != resources.PrincipalUser || caller.ID != user)
}

// mustName is the problem of a user's question about another user without an account. The gateway does not look up the
// other's account: the answer would give it away, and whether the user exists.
const mustName = "is missing; who asks about somebody else names the account, here or in resource.properties.account_id"

// orHome returns the account, or without one the user's own. If a user asks an app about another user it is the asker's
// account: they may ask about nobody outside of it.
func (t *translator) orHome(ctx context.Context, account, user string) (string, error) {
	switch {
	case account != "" || user == "":
		return account, nil
	case t.asksAboutOther(user):
		return t.call.Caller.AccountID, nil
	}
	if _, ok := t.homes[user]; !ok {
		if err := t.lookUp(ctx, []string{user}); err != nil {
			return "", err
		}
	}
	return t.homes[user], nil
}

// lookUp looks up the accounts of users.
func (t *translator) lookUp(ctx context.Context, users []string) error {
	homes, err := t.judge.Homes(ctx, t.call.Caller, t.call.Row, users)
	if t.homes == nil {
		t.homes = homes
	}
	maps.Copy(t.homes, homes)
	return err
}

// findHomes looks up the accounts of all subjects whose questions name none, together.
func (t *translator) findHomes(ctx context.Context, items []Tuple) error {
	seen := map[string]bool{"": true}
	var users []string
	for i := range items {
		q := &items[i]
		if q.Subject == nil || q.namesAccount() {
			continue
		}
		if user := q.user(); !seen[user] {
			seen[user] = true
			users = append(users, user)
		}
	}
	if len(users) == 0 {
		return nil
	}
	return t.lookUp(ctx, users)
}

// namesAccount reports whether the question may name an account.
func (t *Tuple) namesAccount() bool {
	return t.Resource != nil && (t.Resource.Properties.Account != "" || t.Resource.Type == typeAccount) || t.Context != nil && t.Context.Account != ""
}

// namesProject reports whether the question names a project beside its path.
func (t *Tuple) namesProject() bool {
	return t.Resource != nil && (t.Resource.Properties.Project != "" || t.Resource.Type == typeProject)
}

// user returns the user id of the subject, "" for a subject of another type.
func (t *Tuple) user() string {
	if !isUser(t.Subject.Type) || !resources.ValidID(t.Subject.ID) {
		return ""
	}
	return t.Subject.ID
}

// native reads a question about a resource of a native type.
type native struct {
	*Tuple
	action resources.Action
	// path is the place as E3 has it behind authorize/, below the account in question where inAccount
	// says so.
	path      string
	inAccount bool
	// place and through are a route's, which needs no path.
	place   resources.Target
	through string
	// denied says what the question names that does not exist.
	denied string
}

// read reads the action and the path, with their problems.
func (n *native) read(rows *catalogue.Index) {
	entity := n.Resource
	if entity.Type == "" || entity.ID == "" || !n.namesRow() && n.Action.Name == "" { // noted already
		return
	}
	n.readArguments()
	switch entity.Type {
	case typeMCPServer, typeTool, typePrompt, typeResource:
		n.readRow()
		return
	case typeRoute:
		n.readRoute(rows)
		return
	case typePath:
		n.path = entity.ID
	case typeAccount:
		n.plain("resource.id", entity.ID)
		n.path = "accounts/" + entity.ID
	case typeProject:
		n.plain("resource.id", entity.ID)
		if n.namesInProject() && entity.Properties.Project != entity.ID {
			n.denied = "two projects are named, and they differ"
		}
		n.path, n.inAccount = "projects/"+entity.ID, true
	default:
		n.readInProject()
		if n.path == "" {
			return
		}
	}
	if n.reported("resource.id") || n.reported("resource.type") || n.reported("resource.properties.project_id") {
		n.path = "" // it would have the same problems
	}
	var err error
	if n.action, err = resources.ParseAction(n.Action.Name); err != nil {
		n.problem("action.name", err.Error())
	}
}

// readInProject reads a resource of a project. Without a project it is of a type that nobody knows.
func (n *native) readInProject() {
	entity := n.Resource
	if !n.namesInProject() && !entity.Properties.OddProject {
		n.denied = "there are no resources of this type outside of a project"
		return
	}
	if strings.Contains(entity.Type, "/") {
		n.problem("resource.type", "must be one segment of a path")
	}
	if strings.Contains(entity.ID, "/") {
		n.problem("resource.id", "must be one segment of a path; a longer one is asked about as type path")
	}
	n.path, n.inAccount = "projects/"+entity.Properties.Project+"/"+cmp.Or(collections[entity.Type], entity.Type)+"/"+entity.ID, true
}

// namesInProject reports whether project_id was sent as the id of a project, and notes what else it is.
func (n *native) namesInProject() bool {
	const field = "resource.properties.project_id"
	properties := &n.Resource.Properties
	switch {
	case properties.OddProject:
		n.problem(field, "must be a string that is not empty")
		return false
	case properties.Project == "":
		return false
	}
	n.plain(field, properties.Project)
	return true
}

// readRoute reads a call of the platform, whose action and place are those of its row.
func (n *native) readRoute(rows *catalogue.Index) {
	properties := &n.Resource.Properties
	if properties.OddHost {
		n.problem("resource.properties.host", route.HostRule)
	}
	m, err := rows.Find(catalogue.Call{Host: properties.Host, Method: n.Action.Name, Path: n.Resource.ID})
	switch {
	case resources.IsKind(err, resources.KindNotFound):
		n.denied = "no route has this method and path"
		for _, text := range route.PathProblems(strings.TrimPrefix(n.Resource.ID, "/")) {
			n.problem("resource.id", "the path "+text)
		}
	case err != nil:
		for _, p := range resources.AsError(err).Problems {
			if p.Field == "method" {
				n.problem("action.name", p.Text)
			} else {
				n.problem("resource.id", "the path "+p.Text)
			}
		}
	case m.Action.ID == "":
		n.denied = "the route with this method and path has no action"
	default:
		q := m.Question("", m.Place, m.Values)
		n.action, n.place, n.through = q.Action, q.Target, q.Through
	}
}

// plain notes a problem unless the id is a plain one.
func (n *native) plain(field, id string) {
	if !resources.ValidID(id) {
		n.problem(field, resources.IDRule)
	}
}

// account returns the account that the question names, "" for none, and whether it names another one
// besides.
func (n *native) account() (account string, differ bool) {
	name := func(field, id string) {
		if id == "" {
			return
		}
		n.plain(field, id)
		account = cmp.Or(account, id)
		differ = differ || account != id
	}
	if n.Resource != nil {
		name("resource.properties.account_id", n.Resource.Properties.Account)
		if n.Resource.Type == typeAccount && !n.reported("resource.id") {
			name("resource.id", n.Resource.ID)
		}
	}
	if n.Context != nil {
		name("context.account_id", n.Context.Account)
	}
	return account, differ
}

// target returns the place of the question, or notes what E3 refuses of its path.
func (n *native) target(account string) resources.Target {
	path := n.path
	if n.inAccount && account != "" {
		path = "accounts/" + account + "/" + path
	}
	problems := route.PathProblems(path)
	if len(problems) == 0 {
		target, problem := route.ParseTarget(path)
		if problem == "" {
			return target
		}
		problems = append(problems, problem)
	}
	for _, text := range problems {
		n.problem("resource.id", "the path "+text)
	}
	return resources.Target{}
}
