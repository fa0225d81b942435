package tracing

import (
	"context"
	"net"
	"strconv"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.opentelemetry.io/otel/attribute"
	api "go.opentelemetry.io/otel/trace"
)

// Commands returns a monitor for MongoDB's driver that makes a span of each command of a sampled request. It is nil
// without a tracer.
//
// OpenTelemetry's otelmongo can't replace it: its failed spans have the text of the server's error, which quotes values
// of documents.
func (t *Tracer) Commands() *event.CommandMonitor {
	if t == nil {
		return nil
	}
	calls := &underWay{t: t}
	return &event.CommandMonitor{
		Started:   calls.started,
		Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) { calls.ended(&e.CommandFinishedEvent, nil) },
		Failed:    func(_ context.Context, e *event.CommandFailedEvent) { calls.ended(&e.CommandFinishedEvent, e.Failure) },
	}
}

// underWay holds the spans of commands that have not ended.
type underWay struct {
	t *Tracer
	// sampled maps command to api.Span.
	sampled sync.Map
}

// command identifies a command: a request id is unique on its connection.
type command struct {
	connection string
	request    int64
}

// started begins the span of a command that belongs to a sampled request.
func (u *underWay) started(ctx context.Context, e *event.CommandStartedEvent) {
	if !sampled(ctx) {
		return
	}
	name, attributes := e.CommandName, []attribute.KeyValue{
		attribute.String("db.system.name", "mongodb"), attribute.String("db.operation.name", e.CommandName), attribute.String("db.namespace", e.DatabaseName),
	}
	// A command has its collection under its own name, getMore under "collection". Commands of sessions have none.
	key := e.CommandName
	if key == "getMore" {
		key = "collection"
	}
	if collection, ok := e.Command.Lookup(key).StringValueOK(); ok {
		name += " " + collection
		attributes = append(attributes, attribute.String("db.collection.name", collection))
	}
	attributes = append(attributes, server(e.ConnectionID)...)
	_, span := u.t.call(ctx, name, attributes...)
	u.sampled.Store(command{e.ConnectionID, e.RequestID}, span)
}

func (u *underWay) ended(e *event.CommandFinishedEvent, err error) {
	if span, ok := u.sampled.LoadAndDelete(command{e.ConnectionID, e.RequestID}); ok {
		finish(span.(api.Span), err)
	}
}

// server returns the address of a connection. The driver names connections host:port[-number].
func server(connection string) []attribute.KeyValue {
	address, _, _ := strings.Cut(connection, "[")
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil
	}
	attributes := []attribute.KeyValue{attribute.String("server.address", host)}
	if n, err := strconv.Atoi(port); err == nil {
		attributes = append(attributes, attribute.Int("server.port", n))
	}
	return attributes
}
