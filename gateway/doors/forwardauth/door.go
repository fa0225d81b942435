package forwardauth

import (
	"context"
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/original"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// Door answers /forward-auth: the original call is in headers.
type Door struct{ Judge *original.Judge }

// Verify answers /verify/{original path}: the original call is the door's own.
type Verify struct{ Judge *original.Judge }

// Answer implements doors.Door.
func (d Door) Answer(ctx context.Context, c doors.Call) (doors.Answer, error) {
	return answer(ctx, d.Judge, c, told(c.Headers))
}

// Told implements doors.SubRequest.
func (d Door) Told(c doors.Call) (doors.Original, bool) { return originalOf(d.Judge, told(c.Headers)) }

// Unavailable implements doors.Door: the body is the area's.
func (Door) Unavailable(error) []byte { return nil }

// Answer implements doors.Door.
func (v Verify) Answer(ctx context.Context, c doors.Call) (doors.Answer, error) {
	return answer(ctx, v.Judge, c, own(c))
}

// Told implements doors.SubRequest.
func (v Verify) Told(c doors.Call) (doors.Original, bool) { return originalOf(v.Judge, own(c)) }

// Unavailable implements doors.Door: the body is the area's.
func (Verify) Unavailable(error) []byte { return nil }

func originalOf(judge *original.Judge, q original.Question) (of doors.Original, open bool) {
	return doors.Original{Host: q.Host, Method: q.Method, Path: q.Path}, judge.Open(q)
}

// answer has the call judged that was told.
func answer(ctx context.Context, judge *original.Judge, c doors.Call, q original.Question) (doors.Answer, error) {
	q.Caller, q.Headers, q.RequestID = c.Caller, c.Headers, c.RequestID
	q.Further = append(q.Further, c.Problems...)
	a, err := judge.Judge(ctx, q)
	return doors.Answer{Status: 200, Headers: a.Headers, Body: []byte("{}"), Question: a.Asked, Verdict: a.Verdict}, err
}

// The pairs of headers in which proxies tell the original call.
var pairs = [...]struct{ method, uri string }{
	{"X-Original-Method", "X-Original-URI"},   // nginx
	{"X-Forwarded-Method", "X-Forwarded-Uri"}, // Traefik, Caddy
}

// told reads the original call from the headers.
func told(h doors.Headers) original.Question {
	q := original.Question{}
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

// own reads the original call from the call of the door.
func own(c doors.Call) original.Question {
	q := original.Question{HasQuery: c.HasQuery, Query: c.Query}
	q.Method, q.Path = c.Method, "/"+c.Path
	return finish(c.Headers, q)
}

// finish adds the host.
func finish(h doors.Headers, q original.Question) original.Question {
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

func note(q *original.Question, field, text string) {
	q.Problems = append(q.Problems, resources.Problem{Field: field, Text: text})
}
