package changes

import (
	"cmp"
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// attribution holds the caller who asked for the changes of a context, and the route.
type attribution struct {
	actor     resources.ChangeActor
	requestID string
	route     string
}

type attributionKey struct{}

// OfSystem returns a context for changes of the system, under that route's name.
func OfSystem(ctx context.Context, route string) context.Context {
	return context.WithValue(ctx, attributionKey{}, attribution{
		actor: resources.ChangeActor{Kind: resources.ActorSystem, ID: "portcullis"}, route: route,
	})
}

// Attributed returns the handlers. Their changes are recorded as those of the caller, the request and the route.
func Attributed(routes wire.Routes) wire.Routes {
	out := make(wire.Routes, len(routes))
	for name, handler := range routes {
		out[name] = func(ctx context.Context, r *wire.Request) (wire.Response, error) {
			a := attribution{actor: resources.ActorOf(r.Principal), requestID: r.RequestID, route: name}
			return handler(context.WithValue(ctx, attributionKey{}, a), r)
		}
	}
	return out
}

// attributionOf returns the attribution of the context, which is the system's if no caller asked.
func attributionOf(ctx context.Context) attribution {
	a, ok := ctx.Value(attributionKey{}).(attribution)
	if !ok {
		return attributionOf(OfSystem(ctx, "system.change"))
	}
	return a
}

// action returns the action of the route, or its name where it has none.
func (r *Recorder) action(route string) string { return cmp.Or(r.Action(route), route) }
