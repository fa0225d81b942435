package wire

import (
	"context"
	"fmt"
)

// Named puts the area's and the route's name before what goes to the log.
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

// Bare refuses a query and a body on a route that takes neither: what they ask for
// would be ignored. An empty object is nothing too.
func (r *Request) Bare() error {
	var p Problems
	r.ParseQuery(&p).Done()
	if len(r.Body) > 0 {
		r.ParseObject(&p).Done()
	}
	return p.Err()
}
