package wire

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
)

// Request is an authorized call, as an area's handler sees it. All of it is the
// handler's to keep: nothing in it aliases a connection's buffer.
type Request struct {
	// Principal is who calls; policy has said yes to the route, not to the data.
	Principal resources.Principal
	// Params are the path's parameters, each a valid plain identifier.
	Params map[string]string
	// Query is the raw query string; ParseQuery reads it.
	Query string
	// Body is the raw body; ParseObject reads it.
	Body []byte
	// RequestID is in every log line and answer.
	RequestID string
	// Path is the request's, as it was sent.
	Path string
	// AccountID is the account in question: the path's, or X-Account-ID where the path
	// names none.
	AccountID string
	// IdempotencyKey is the header's value, "" for none.
	IdempotencyKey string
}

// Response is a success: errors are returned as errors.
type Response struct {
	// Status is 200 or 201.
	Status int
	// Body is rendered as JSON.
	Body any
	// File is sent as it is, in the place of Body; nil is none.
	File *File
	// ShownOnce is the id of what was made where Body holds a secret that is shown in
	// this one answer and never kept.
	ShownOnce string
}

// File is an answer that is not a value of the API: a document, a page, a picture.
type File struct {
	ContentType string
	// Content is not changed by who is given it.
	Content []byte
}

// Handler serves one route of an area.
type Handler func(ctx context.Context, r *Request) (Response, error)

// Routes are an area's handlers, keyed by the catalogue's route names ("role_assignment.list_of_user").
type Routes map[string]Handler

// OK is an answer with status 200.
func OK(body any) (Response, error) { return Response{Status: 200, Body: body}, nil }

// Created is an answer with status 201.
func Created(body any) (Response, error) { return Response{Status: 201, Body: body}, nil }
