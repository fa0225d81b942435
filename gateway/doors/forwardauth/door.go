package forwardauth

import (
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/catalogue"
	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// The pairs of headers in which proxies send the original call.
var pairs = [...]struct{ method, uri string }{
	{"X-Original-Method", "X-Original-URI"},   // nginx
	{"X-Forwarded-Method", "X-Forwarded-Uri"}, // Traefik, Caddy
}

// InHeaders reads the original call of /forward-auth: it is in headers. It is a doors.SubRequest.
func InHeaders(c doors.Call) doors.Original {
	h, q := c.Headers, doors.Original{}
	pair := -1
	for i, names := range pairs {
		method, methodSent := soleValue(h, names.method, &q.Problems)
		uri, uriSent := soleValue(h, names.uri, &q.Problems)
		switch {
		case !methodSent && !uriSent:
		case methodSent != uriSent:
			note(&q, names.method, "must be sent together with "+names.uri)
		case pair >= 0:
			note(&q, names.method, "must not be sent beside "+pairs[pair].method+": the call is told once")
		}
		if methodSent || uriSent {
			pair, q.Method = i, method
			q.Path, q.Query, q.HasQuery = strings.Cut(uri, "?")
		}
	}
	if pair < 0 && len(q.Problems) == 0 {
		note(&q, pairs[0].method, "must be sent with "+pairs[0].uri+", or "+pairs[1].method+" with "+pairs[1].uri)
	}
	return finish(h, q)
}

// InPath reads the original call of /verify/{original path}: it is the door's own. It is a doors.SubRequest.
func InPath(c doors.Call) doors.Original {
	return finish(c.Headers, doors.Original{Call: catalogue.Call{Method: c.Method, Path: "/" + c.Path}, HasQuery: c.HasQuery, Query: c.Query})
}

// finish adds the headers and the host.
func finish(h doors.Headers, q doors.Original) doors.Original {
	q.Headers = h
	field := "X-Forwarded-Host"
	host, sent := soleValue(h, field, &q.Problems)
	if !sent {
		field = "Host"
		host, _ = soleValue(h, field, &q.Problems)
		sent = host != "" // an empty one names no host
	}
	var ok bool
	if q.Host, ok = route.ParseHost(host); sent && !ok {
		note(&q, field, route.HostRule)
	}
	if strings.Contains(q.Query, "#") {
		q.Further = append(q.Further, resources.Problem{Field: "query", Text: "holds a #, at which some servers end it"})
	}
	return q
}

// soleValue returns the value of a header, and whether it was sent. A header that was sent more than once, or in
// another spelling, is a problem beside its first value.
func soleValue(h doors.Headers, name string, problems *[]resources.Problem) (value string, sent bool) {
	values, odd := h.Values(name)
	if len(values) > 1 || odd {
		*problems = append(*problems, resources.Problem{Field: name, Text: "must be sent once, in one spelling, with hyphens"})
	}
	if len(values) == 0 {
		return "", false
	}
	return values[0], true
}

func note(q *doors.Original, field, text string) {
	q.Problems = append(q.Problems, resources.Problem{Field: field, Text: text})
}
