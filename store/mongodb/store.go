package mongodb

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/portcullis-authz/portcullis/store"
)

// closeTime bounds how long Close waits for calls under way.
const closeTime = 10 * time.Second

// Store is the engine; Open makes it. It is safe for concurrent use.
type Store struct {
	client    *mongo.Client
	db        *mongo.Database
	tables    map[string]*table
	slot      slot
	abandoned abandoned

	mu     sync.Mutex
	seen   bson.Timestamp
	users  int
	closed bool
	// quit ends the background work.
	quit context.CancelFunc
	// idle is closed when the last call of a closed store has returned.
	idle chan struct{}
}

var _ store.Store = (*Store)(nil)

// enter counts a call of the store. The call ends with leave.
func (s *Store) enter(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, unavailable(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	s.users++
	return s.leave, nil
}

func (s *Store) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.closed && s.users == 0 {
		close(s.idle)
	}
}

// inBackground runs work, which Close waits for.
func (s *Store) inBackground(fn func()) {
	s.mu.Lock()
	s.users++
	s.mu.Unlock()
	go func() {
		defer s.leave()
		fn()
	}()
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	first := !s.closed
	if first {
		s.closed = true
		if s.users == 0 {
			close(s.idle)
		}
	}
	s.mu.Unlock()
	if !first {
		return nil
	}
	s.quit()
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	select {
	case <-s.idle:
	case <-ctx.Done():
	}
	return s.client.Disconnect(context.WithoutCancel(ctx))
}

// session starts a session that reads nothing older than this process has seen.
func (s *Store) session(causal bool) (*mongo.Session, error) {
	ses, err := s.client.StartSession(options.Session().SetCausalConsistency(causal))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	seen := s.seen
	s.mu.Unlock()
	if causal && !seen.IsZero() {
		if err := ses.AdvanceOperationTime(&seen); err != nil {
			return nil, err
		}
	}
	return ses, nil
}

// end ends a session, and stores the operation time that it reached.
func (s *Store) end(ses *mongo.Session) {
	if timestamp := ses.OperationTime(); timestamp != nil {
		s.mu.Lock()
		if timestamp.After(s.seen) {
			s.seen = *timestamp
		}
		s.mu.Unlock()
	}
	ses.EndSession(context.Background())
}

// Freshness implements store.Store.
func (s *Store) Freshness(ctx context.Context) (store.Freshness, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return store.Freshness{}, err
	}
	defer leave()
	// A causal session allows no linearizable reads; the next sessions get this one's time instead.
	ses, err := s.session(false)
	if err != nil {
		return store.Freshness{}, translate(ctx, err)
	}
	defer s.end(ses)
	var doc struct {
		Generation string `bson:"gen"`
		Epoch      int64  `bson:"epoch"`
	}
	linearizable := s.meta().Clone(options.Collection().SetReadConcern(readconcern.Linearizable()))
	err = linearizable.FindOne(mongo.NewSessionContext(ctx, ses), byID(epochID)).Decode(&doc)
	if err != nil {
		return store.Freshness{}, translate(ctx, err)
	}
	return store.Freshness{Generation: doc.Generation, Epoch: doc.Epoch}, nil
}

// Lease implements store.Store. The longest lease of any process is in the document of the epoch, where
// each change reads it. It is rounded up to whole milliseconds, since 0 means no lease.
func (s *Store) Lease(ctx context.Context, d time.Duration) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	longest := (d + time.Millisecond - 1).Milliseconds()
	_, err = s.meta().UpdateOne(ctx, byID(epochID), bson.D{{Key: "$max", Value: bson.D{{Key: "lease_max", Value: longest}}}})
	return translate(ctx, err)
}

// NewGeneration invalidates all that any process has cached, and removes all leases. It is called after
// the database was restored from a backup, before a process starts on it.
func (s *Store) NewGeneration(ctx context.Context) (generation string, err error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	generation = rand.Text()
	_, err = s.meta().UpdateOne(ctx, byID(epochID), bson.D{{Key: "$set", Value: bson.D{{Key: "gen", Value: generation}, {Key: "lease_max", Value: int64(0)}}}})
	return generation, translate(ctx, err)
}

// Changes implements store.Store.
func (s *Store) Changes(ctx context.Context, after int64, limit int) (changed []store.AccountRevision, complete bool, err error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, false, err
	}
	defer leave()
	ses, err := s.session(true)
	if err != nil {
		return nil, false, translate(ctx, err)
	}
	defer s.end(ses)
	limit = max(limit, 0)
	ctx = mongo.NewSessionContext(ctx, ses)
	cursor, err := s.revisions().Find(ctx, bson.D{{Key: "epoch", Value: bson.D{{Key: "$gt", Value: after}}}},
		options.Find().SetSort(bson.D{{Key: "epoch", Value: 1}}).SetLimit(int64(limit)+1).SetHint("by_epoch"))
	if err != nil {
		return nil, false, translate(ctx, err)
	}
	var docs []revisionDoc
	if err := cursor.All(ctx, &docs); err != nil {
		return nil, false, translate(ctx, err)
	}
	for _, doc := range docs[:min(limit, len(docs))] {
		changed = append(changed, store.AccountRevision{AccountID: doc.account(), Revision: doc.Revision})
	}
	return changed, len(docs) <= limit, nil
}

// Ping implements store.Store. Any node will do, also without a primary: a restart of the process would not help an
// election, and Check reports it.
func (s *Store) Ping(ctx context.Context) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return translate(ctx, s.client.Ping(ctx, readpref.PrimaryPreferred()))
}

// Check implements store.Store. It writes to a document of its own: no revision and no epoch moves.
func (s *Store) Check(ctx context.Context) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	_, err = s.meta().UpdateOne(ctx, byID("probe"), bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: int64(1)}}}},
		options.UpdateOne().SetUpsert(true))
	if err != nil && !mongo.IsDuplicateKeyError(err) { // two first probes at once
		return translate(ctx, err)
	}
	return nil
}

func byID(id string) bson.D { return bson.D{{Key: "_id", Value: id}} }
