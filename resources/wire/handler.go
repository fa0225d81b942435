package wire

import (
	"context"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// Request is an authorized request, as a handler of an area sees it. The handler may keep all of
// it: nothing in it aliases a connection's buffer.
type Request struct {
	// Principal is the caller. Policy has allowed them the route; the handler checks the data.
	Principal resources.Principal
	// Params holds the parameters of the path, each a valid plain identifier.
	Params map[string]string
	// Query is the raw query string; ParseQuery reads it.
	Query string
	// Body is the raw body; ParseObject reads it.
	Body []byte
	// RequestID names the request in log lines and responses.
	RequestID string
	// Path is the path as the client sent it.
	Path string
	// AccountID is the account of the path, or X-Account-ID's for a path without one.
	AccountID string
	// IdempotencyKey is the value of the header, "" for none.
	IdempotencyKey string
	// Place is the Place of the response the client waited after; nil at the first time.
	Place any
}

// Response is the response to a request that succeeded.
type Response struct {
	// Status is 200 or 201.
	Status int
	// Body is rendered as JSON.
	Body any
	// File is sent in place of Body; nil is none.
	File *File
	// Wait is how long after the request's arrival the client waits for another response. While
	// that time is not over, the edge authorizes the caller anew and asks the handler again.
	Wait time.Duration
	// Wake, unless nil, is closed when there may be another response. The edge then asks seldom before.
	Wake <-chan struct{}
	// Waiters, unless nil, bounds the clients that wait for a response of this kind; one too many is refused.
	Waiters Waiters
	// Place goes to the handler when it is asked again: how far it has looked.
	Place any
	// ShownOnce is the id of the new record if Body holds its secret. Such a body is sent once and
	// not stored.
	ShownOnce string
}

// Waiters is a bound of clients (resources/gate). TryEnter returns an error of KindUnavailable for one too many, Share
// for one too many of an account.
type Waiters interface {
	TryEnter() error
	Leave()
	Share(account string) error
	Unshare(account string)
}

// File is a response in a form of its own: a document, a page, a picture.
type File struct {
	ContentType string
	// Content is read only.
	Content []byte
}

// Handler is the handler of one route.
type Handler func(ctx context.Context, r *Request) (Response, error)

// Routes holds the handlers of an area by route name, such as "role_assignment.list_of_user".
type Routes map[string]Handler

// OK returns a response with status 200.
func OK(body any) (Response, error) { return Response{Status: 200, Body: body}, nil }

// Answer returns the error of the step before it alone, or else OK.
func Answer(body any, err error) (Response, error) {
	if err != nil {
		return Response{}, err
	}
	return OK(body)
}

// Created returns a response with status 201.
func Created(body any) (Response, error) { return Response{Status: 201, Body: body}, nil }
