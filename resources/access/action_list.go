package access

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// actionRoute is a row of the catalogue as action.list shows it. Host is "" for the gateway's own.
type actionRoute struct {
	Name   string `json:"name"`
	Method string `json:"method"`
	Host   string `json:"host,omitempty"`
	Path   string `json:"path"`
}

// actionBody is one item of action.list.
type actionBody struct {
	Action      string        `json:"action"`
	Scope       string        `json:"scope"`
	Description string        `json:"description"`
	Routes      []actionRoute `json:"routes"`
	Patterns    []string      `json:"patterns"`
}

// actionList is the response of action.list.
type actionList struct {
	Actions []actionBody `json:"actions"`
}

// listActions answers action.list (N22): what a role can permit, as the tree in force lists it.
func (s *Service) listActions(_ context.Context, r *wire.Request) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	out := actionList{Actions: []actionBody{}}
	for _, use := range s.Actions() {
		out.Actions = append(out.Actions, actionBodyOf(use))
	}
	return wire.OK(out)
}

func actionBodyOf(use resources.ActionUse) actionBody {
	out := actionBody{
		Action: use.ID, Scope: use.Scope, Description: use.Description,
		Routes: make([]actionRoute, len(use.Routes)), Patterns: append([]string{}, use.Patterns...),
	}
	for i, row := range use.Routes {
		out.Routes[i] = actionRoute{row.Name, row.Method, row.Host, row.Path}
	}
	return out
}
