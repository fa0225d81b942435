package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
)

// ErrIncomplete ends a search with incomplete results: the gateway can't enumerate this type.
var ErrIncomplete = errors.New("client: the gateway can't enumerate these; there may be more")

// Search is what a search leaves open and what it fixes (AuthZEN 1.0, 8).
type Search struct {
	// Evaluation has the question without the part that is looked for: of a subject and of a resource
	// its type alone, of an action nothing.
	Evaluation
	// Limit is how many results a page has; 0 is the gateway's own.
	Limit int
}

// Subjects returns all subjects that may do the action on the resource. An error ends the walk, and
// what came before it is true but not all. Each page has the client's timeout.
func (c *Client) Subjects(ctx context.Context, s Search) iter.Seq2[Subject, error] {
	s.Subject = Subject{Type: s.Subject.Type, Properties: s.Subject.Properties}
	return walk[Subject](ctx, c, "/access/v1/search/subject", map[string]any{
		"subject": s.Subject, "action": s.Action, "resource": s.Resource,
	}, s)
}

// Resources returns all resources of the type on which the subject may do the action, as Subjects.
func (c *Client) Resources(ctx context.Context, s Search) iter.Seq2[Resource, error] {
	s.Resource = Resource{Type: s.Resource.Type, Properties: s.Resource.Properties}
	return walk[Resource](ctx, c, "/access/v1/search/resource", map[string]any{
		"subject": s.Subject, "action": s.Action, "resource": s.Resource,
	}, s)
}

// Actions returns all actions that the subject may do on the resource, as Subjects.
func (c *Client) Actions(ctx context.Context, s Search) iter.Seq2[Action, error] {
	return walk[Action](ctx, c, "/access/v1/search/action", map[string]any{
		"subject": s.Subject, "resource": s.Resource,
	}, s)
}

// page is one answer of a search.
type page[T any] struct {
	Results *[]T `json:"results"`
	Page    struct {
		NextToken string `json:"next_token"`
	} `json:"page"`
	Context struct {
		Complete *bool `json:"complete"`
	} `json:"context"`
}

// walk asks for one page after the other.
func walk[T any](ctx context.Context, c *Client, path string, body map[string]any, s Search) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		body := maps.Clone(body) // a walk may be begun twice
		if s.Context != nil {
			body["context"] = s.Context
		}
		for token := ""; ; {
			asked := map[string]any{}
			if s.Limit != 0 {
				asked["limit"] = s.Limit
			}
			if token != "" {
				asked["token"] = token
			}
			body["page"] = asked
			var got page[T]
			if err := c.askJSON(ctx, path, body, &got); err != nil {
				yield(none, err)
				return
			}
			if got.Results == nil || token != "" && got.Page.NextToken == token {
				yield(none, fmt.Errorf("%w: it is not a page of results", errAnswer))
				return
			}
			for _, one := range *got.Results {
				if !yield(one, nil) {
					return
				}
			}
			if complete := got.Context.Complete; complete != nil && !*complete {
				yield(none, ErrIncomplete)
				return
			}
			if token = got.Page.NextToken; token == "" {
				return
			}
		}
	}
}
