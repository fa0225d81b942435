package own

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/tools"
	"github.com/portcullis-authz/portcullis/resources"
)

func (s *Server) addTools(server *sdk.Server) {
	tools.Add(server, tools.Tool{
		Name: "check", Title: "May somebody do this?",
		Description: "Says whether a user may do an action at a place of the account, and the reason. It asks about the user alone: an agent needs its delegation and its own roles, too.",
	}, s.check)
	tools.Add(server, tools.Tool{
		Name: "why", Title: "Why may somebody do this, or not?",
		Description: "Explains the answer of check: conditions, grants, deny rules, and the smallest changes after which it is allowed. Admins of the account can make them.",
	}, s.why)
	tools.Add(server, tools.Tool{
		Name: "who_can", Title: "Who may do this?",
		Description: "Lists the users who may do an action at a place of the account.",
	}, s.whoCan)
	tools.Add(server, tools.Tool{
		Name: "what_can", Title: "What may somebody do here?",
		Description: "Lists the actions that a user may do at a place of the account.",
	}, s.whatCan)
	tools.Add(server, tools.Tool{
		Name: "changes", Title: "What was changed?",
		Description: "Lists changes of the account, newest first: of users, roles, assignments, groups, projects, keys and agents, with who made them.",
	}, s.changes)
}

// question asks whether a user may do an action at a place.
type question struct {
	User   string `json:"user,omitempty" jsonschema:"the id of the user; without it you"`
	Action string `json:"action" jsonschema:"as project:instance:create"`
	where
}

// call returns the API's call of a question, and the user.
func (q question) call(ctx context.Context, route string) (doors.Inside, string) {
	me, account := caller(ctx)
	user := cmp.Or(q.User, me)
	return doors.Inside{
		Method: http.MethodPost, Target: route + q.path(account),
		Header: []doors.Header{{Name: "X-User-ID", Value: user}, {Name: "X-Account-ID", Value: account}, {Name: "X-Action", Value: q.Action}},
	}, user
}

type decision struct {
	Allowed         bool   `json:"allowed"`
	Reason          string `json:"reason"`
	DecisionID      string `json:"decision_id" jsonschema:"names the decision in the decision log"`
	PolicyRevision  string `json:"policy_revision"`
	AccountRevision int64  `json:"account_revision"`
}

func (s *Server) check(ctx context.Context, args question) (decision, error) {
	c, user := args.call(ctx, "/api/v1/authorize/")
	var body struct {
		Allowed *bool  `json:"allowed"`
		Reason  string `json:"reason"`
	}
	a, err := s.ask(ctx, user, c, &body)
	if err != nil && a.Status == http.StatusForbidden && json.Unmarshal(a.Body, &body) == nil && body.Allowed != nil {
		err = nil // --deny-status 403
	}
	if err != nil {
		return decision{}, err
	}
	revision, err := strconv.ParseInt(a.Header.Get("X-Account-Revision"), 10, 64)
	if err != nil || body.Allowed == nil {
		return decision{}, tools.Failed{Cause: err}
	}
	return decision{*body.Allowed && a.Status == http.StatusOK, body.Reason, a.Header.Get("X-Decision-ID"), a.Header.Get("X-Policy-Revision"), revision}, nil
}

func (s *Server) why(ctx context.Context, args question) (out resources.Explanation, err error) {
	c, user := args.call(ctx, "/api/v1/explain/")
	_, err = s.ask(ctx, user, c, &out)
	return out, err
}

// paged asks for a page.
type paged struct {
	Limit int    `json:"limit,omitempty" jsonschema:"at most so many results"`
	Page  string `json:"page,omitempty" jsonschema:"next_page of the answer before, with the same arguments"`
}

// entity is an entity of AuthZEN.
type entity struct {
	Type       string            `json:"type"`
	ID         string            `json:"id,omitempty"`
	Properties map[string]string `json:"properties,omitempty"`
}

// search is the body of a search of AuthZEN.
type search struct {
	Subject  entity            `json:"subject"`
	Action   map[string]string `json:"action,omitempty"`
	Resource entity            `json:"resource"`
	Page     map[string]any    `json:"page"`
}

// searched is the answer to a search.
type searched struct {
	Page struct {
		Next string `json:"next_token"`
	} `json:"page"`
	Results []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"results"`
	Context struct {
		Complete        bool   `json:"complete"`
		PolicyRevision  string `json:"policy_revision"`
		AccountRevision int64  `json:"account_revision"`
	} `json:"context"`
}

// place returns the entity of a place.
func (w where) entity(account string) entity {
	return entity{Type: "path", ID: w.path(account), Properties: map[string]string{"account_id": account}}
}

// search asks a search.
func (s *Server) search(ctx context.Context, subject, path string, body search, p paged) (out searched, err error) {
	body.Page = map[string]any{}
	if p.Limit != 0 {
		body.Page["limit"] = p.Limit
	}
	if p.Page != "" {
		body.Page["token"] = p.Page
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return out, err
	}
	_, err = s.ask(ctx, subject, doors.Inside{
		Method: http.MethodPost, Target: path, Body: raw, Header: []doors.Header{{Name: "Content-Type", Value: "application/json"}},
	}, &out)
	return out, err
}

// page is what the answers to searches have in common.
type page struct {
	NextPage        string `json:"next_page" jsonschema:"empty at the end"`
	Complete        bool   `json:"complete" jsonschema:"whether all pages together have everything"`
	PolicyRevision  string `json:"policy_revision"`
	AccountRevision int64  `json:"account_revision"`
}

func (f *searched) page() page {
	return page{f.Page.Next, f.Context.Complete, f.Context.PolicyRevision, f.Context.AccountRevision}
}

type whoArguments struct {
	Action string `json:"action" jsonschema:"as project:instance:create"`
	where
	paged
}

type users struct {
	Users []string `json:"users" jsonschema:"their ids"`
	page
}

func (s *Server) whoCan(ctx context.Context, args whoArguments) (users, error) {
	_, account := caller(ctx)
	f, err := s.search(ctx, "", "/access/v1/search/subject", search{
		Subject: entity{Type: "user"}, Action: map[string]string{"name": args.Action}, Resource: args.entity(account),
	}, args.paged)
	out := users{Users: []string{}, page: f.page()}
	for _, one := range f.Results {
		out.Users = append(out.Users, one.ID)
	}
	return out, err
}

type whatArguments struct {
	User string `json:"user,omitempty" jsonschema:"the id of the user; without it you"`
	where
	paged
}

type actions struct {
	Actions []string `json:"actions"`
	page
}

func (s *Server) whatCan(ctx context.Context, args whatArguments) (actions, error) {
	me, account := caller(ctx)
	user := cmp.Or(args.User, me)
	f, err := s.search(ctx, user, "/access/v1/search/action", search{Subject: entity{Type: "user", ID: user}, Resource: args.entity(account)}, args.paged)
	out := actions{Actions: []string{}, page: f.page()}
	for _, one := range f.Results {
		out.Actions = append(out.Actions, one.Name)
	}
	return out, err
}

type changesArguments struct {
	Actor   string `json:"actor,omitempty" jsonschema:"the id of the user or service that made the change"`
	Subject string `json:"subject,omitempty" jsonschema:"the id of what was changed"`
	Action  string `json:"action,omitempty" jsonschema:"as account:role:create"`
	Since   string `json:"since,omitempty" jsonschema:"RFC 3339"`
	Until   string `json:"until,omitempty" jsonschema:"RFC 3339"`
	paged
}

type changeList struct {
	Changes  []resources.ShownChange `json:"changes"`
	NextPage string                  `json:"next_page" jsonschema:"empty at the end"`
}

func (s *Server) changes(ctx context.Context, args changesArguments) (changeList, error) {
	_, account := caller(ctx)
	q := url.Values{}
	for _, one := range [...]struct{ name, value string }{
		{"actor", args.Actor}, {"subject", args.Subject}, {"action", args.Action}, {"since", args.Since}, {"until", args.Until}, {"page_token", args.Page},
	} {
		if one.value != "" {
			q.Set(one.name, one.value)
		}
	}
	if args.Limit != 0 {
		q.Set("page_size", strconv.Itoa(args.Limit))
	}
	var body struct {
		Changes []resources.ShownChange `json:"changes"`
		Next    string                  `json:"next_page_token"`
	}
	target := "/api/v1/accounts/" + account + "/changes"
	if len(q) > 0 {
		target += "?" + q.Encode()
	}
	_, err := s.ask(ctx, "", doors.Inside{Method: http.MethodGet, Target: target}, &body)
	return changeList{body.Changes, body.Next}, err
}
