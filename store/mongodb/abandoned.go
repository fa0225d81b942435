package mongodb

import (
	"context"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
)

const (
	// suspectTime is how long a change loses its conflicts before it looks for their cause, and the
	// shortest time between two looks.
	suspectTime = time.Second
	// abandonedTime is how long a gateway's transaction may be idle while others wait.
	abandonedTime = 2 * time.Second
)

// abandoned finds the transactions of processes killed in the middle of a change. The server keeps these open for a
// minute, and with them the locks of what they wrote.
type abandoned struct {
	mu     sync.Mutex
	looked time.Time
	open   map[openID]openTransaction
}

type openID struct {
	session string
	number  int64
}

// openTransaction is an open transaction as it was seen. It is idle while active stays the same.
type openTransaction struct {
	active int64
	since  time.Time
}

// endAbandoned looks once, and ends the transactions idle for too long. A slow process finds its transaction gone and
// retries. Errors are ignored: the change goes on retrying, and the server ends an abandoned transaction in the end.
func (s *Store) endAbandoned(ctx context.Context) {
	a := &s.abandoned
	if !a.mu.TryLock() {
		return
	}
	defer a.mu.Unlock()
	if time.Since(a.looked) < suspectTime {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, suspectTime)
	defer cancel()
	idle, err := s.idleWriters(ctx)
	a.looked = time.Now()
	if err != nil {
		return
	}
	if ids := a.note(idle, a.looked); len(ids) > 0 {
		_ = s.client.Database("admin").RunCommand(ctx, bson.D{{Key: "killSessions", Value: ids}}).Err() // the next look finds them again
	}
}

// note stores the open transactions, and returns the sessions idle for too long. The server's own idle time cannot be
// used: it is the sum over the whole transaction.
func (a *abandoned) note(idle []idleWriter, now time.Time) (end bson.A) {
	before := a.open
	a.open = make(map[openID]openTransaction, len(idle))
	for _, w := range idle {
		id := openID{string(w.Session.ID.Data), w.Transaction.Parameters.Number}
		seen, ok := before[id]
		if !ok || seen.active != w.Transaction.Active {
			seen = openTransaction{active: w.Transaction.Active, since: now}
		}
		a.open[id] = seen
		if now.Sub(seen.since) >= abandonedTime {
			end = append(end, bson.D{{Key: "id", Value: w.Session.ID}})
		}
	}
	return end
}

// idleWriter is a session in the reply of $currentOp.
type idleWriter struct {
	Session struct {
		ID bson.Binary `bson:"id"`
	} `bson:"lsid"`
	Transaction struct {
		Parameters struct {
			Number int64 `bson:"txnNumber"`
		} `bson:"parameters"`
		Active int64 `bson:"timeActiveMicros"`
	} `bson:"transaction"`
}

// idleWriters returns the idle sessions of this user and this database's gateways with an open transaction and locks. A
// user needs no privilege to see or to end its own sessions.
func (s *Store) idleWriters(ctx context.Context) ([]idleWriter, error) {
	admin := s.client.Database("admin", options.Database().SetReadConcern(readconcern.Local()))
	cursor, err := admin.Aggregate(ctx, mongo.Pipeline{
		{{Key: "$currentOp", Value: bson.D{{Key: "idleSessions", Value: true}, {Key: "allUsers", Value: false}}}},
		{{Key: "$match", Value: bson.D{
			{Key: "type", Value: "idleSession"},
			{Key: "clientMetadata.application.name", Value: applicationName(s.db.Name())},
			{Key: "transaction", Value: bson.D{{Key: "$exists", Value: true}}},
			{Key: "locks.Global", Value: bson.D{{Key: "$ne", Value: "r"}}},
		}}},
	})
	if err != nil {
		return nil, err
	}
	var out []idleWriter
	err = cursor.All(ctx, &out)
	return out, err
}
