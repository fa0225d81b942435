package wire

import (
	"context"
	"fmt"
)

// Named returns the routes with the names of the area and the route in their errors.
func Named(area string, routes Routes) Routes {
	out := make(Routes, len(routes))
	for name, handler := range routes {
		out[name] = func(ctx context.Context, r *Request) (Response, error) {
			answer, err := handler(ctx, r)
			if err != nil {
				return Response{}, fmt.Errorf("%s: %s: %w", area, name, err)
			}
			return answer, nil
		}
	}
	return out
}

// Bare refuses a query and a body on a route that takes neither. An empty JSON object counts as
// no body.
func (r *Request) Bare() error {
	var p Problems
	r.ParseQuery(&p).Done()
	if len(r.Body) > 0 {
		r.ParseObject(&p).Done()
	}
	return p.Err()
}
