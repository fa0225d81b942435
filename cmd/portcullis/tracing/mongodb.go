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

// Commands returns what MongoDB's driver tells of its commands: each of a sampled request is a span. It is nil without a
// tracer.
//
// OpenTelemetry's otelmongo can't take its place: a failed span has the server's text, which quotes values of documents,
// and no version for this driver is released.
func (t *Tracer) Commands() *event.CommandMonitor {
	if t == nil {
		return nil
	}
	under := &underWay{t: t}
	return &event.CommandMonitor{
		Started:   under.started,
		Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) { under.ended(&e.CommandFinishedEvent, nil) },
		Failed:    func(_ context.Context, e *event.CommandFailedEvent) { under.ended(&e.CommandFinishedEvent, e.Failure) },
	}
}

// underWay are the spans of commands that have not ended.
type underWay struct {
	t *Tracer
	// sampled is empty while no sampled request asks MongoDB.
	sampled sync.Map
}

// command names a command on its connection.
type command struct {
	connection string
	request    int64
}

// started begins the span of a command that belongs to a sampled request.
func (u *underWay) started(ctx context.Context, e *event.CommandStartedEvent) {
	if !sampled(ctx) {
		return
	}
	name, about := e.CommandName, []attribute.KeyValue{
		attribute.String("db.system.name", "mongodb"), attribute.String("db.operation.name", e.CommandName), attribute.String("db.namespace", e.DatabaseName),
	}
	// The first value of a command is its collection, but for those of sessions and getMore.
	at := e.CommandName
	if at == "getMore" {
		at = "collection"
	}
	if collection, ok := e.Command.Lookup(at).StringValueOK(); ok {
		name += " " + collection
		about = append(about, attribute.String("db.collection.name", collection))
	}
	about = append(about, server(e.ConnectionID)...)
	_, span := u.t.call(ctx, name, about...)
	u.sampled.Store(command{e.ConnectionID, e.RequestID}, span)
}

func (u *underWay) ended(e *event.CommandFinishedEvent, err error) {
	if span, ok := u.sampled.LoadAndDelete(command{e.ConnectionID, e.RequestID}); ok {
		finish(span.(api.Span), err)
	}
}

// server returns where a connection goes, which the driver names host:port[-number].
func server(connection string) []attribute.KeyValue {
	address, _, _ := strings.Cut(connection, "[")
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil
	}
	about := []attribute.KeyValue{attribute.String("server.address", host)}
	if n, err := strconv.Atoi(port); err == nil {
		about = append(about, attribute.Int("server.port", n))
	}
	return about
}
