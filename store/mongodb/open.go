package mongodb

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"github.com/portcullis-authz/portcullis/store"
)

// Options are the settings of a Store.
type Options struct {
	// URL is mongodb://… or mongodb+srv://…, with the database, by default "portcullis".
	URL string
	// Schemas are all collections. Open adds and fills what is missing in the database. It drops
	// nothing, because an older release may still use it.
	Schemas []*store.Schema
	// Maintenance is set by every process other than a gateway.
	Maintenance bool
	// Inspect opens an existing store, and changes nothing in the database: ErrNoStore without one.
	Inspect bool
	// Monitor is called for every command, for tests; nil is none.
	Monitor *event.CommandMonitor
}

const (
	defaultDatabase = "portcullis"
	// operationTime is the deadline of an operation whose caller set none.
	operationTime = 10 * time.Second
	// selectionTime bounds the search for a primary.
	selectionTime = 3 * time.Second
	// minWireVersion is that of MongoDB 4.4.
	minWireVersion = 9
)

// applicationName names the gateways of a database to the server. Those of another database on the same
// server have another name, so their transactions are left alone.
func applicationName(database string) string { return "portcullis/" + database }

// maintenanceName names the processes other than gateways.
func maintenanceName(database string) string { return "portcullis-maintenance/" + database }

// Errors of Open, with texts for the operator; compare with errors.Is.
var (
	// ErrURL refuses an unreadable URL. It repeats nothing of the URL, since any part of it may be a password.
	ErrURL = errors.New("the URL must be mongodb://user:password@host1,host2,host3/database?replicaSet=name, " +
		"or mongodb+srv://…, with special characters in user and password percent-encoded")
	// ErrStandalone is the error of a server without transactions.
	ErrStandalone = errors.New("this is a standalone server, which has no transactions; " +
		"make it a replica set of one: start mongod with --replSet and run rs.initiate() once")
	// ErrTooOld is the error of a server that is older than MongoDB 4.4.
	ErrTooOld = errors.New("the server is older than MongoDB 4.4; use 4.4 or later")
	// ErrNoStore is the error of a database that is to be inspected and has no store.
	ErrNoStore = errors.New("there is no store in this database; check the name of the database in the URL")
)

// Open connects and makes what is missing. It returns an error for a server that cannot keep the
// contract.
func Open(ctx context.Context, o Options) (*Store, error) {
	s, err := open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("store/mongodb: %w", err)
	}
	return s, nil
}

// open connects to the database and makes its collections what the schemas say.
func open(ctx context.Context, o Options) (_ *Store, err error) {
	tables, err := newTables(o.Schemas)
	if err != nil {
		return nil, err
	}
	where, err := connstring.ParseAndValidate(o.URL)
	if err != nil {
		return nil, urlError(err)
	}
	database := cmp.Or(where.Database, defaultDatabase)
	name := applicationName(database)
	if o.Maintenance {
		name = maintenanceName(database)
	}
	client, err := mongo.Connect(options.Client().ApplyURI(o.URL).SetAppName(name).SetMonitor(o.Monitor).
		SetReadPreference(readpref.Primary()).SetReadConcern(readconcern.Majority()).SetWriteConcern(durable()).
		SetServerSelectionTimeout(selectionTime).SetTimeout(operationTime))
	if err != nil {
		return nil, urlError(err)
	}
	defer func() {
		if err != nil {
			_ = client.Disconnect(context.WithoutCancel(ctx)) // the caller gets the first error
		}
	}()
	s := &Store{client: client, db: client.Database(database), tables: tables, slot: slot{size: groupSize}, idle: make(chan struct{})}
	if err := s.fitServer(ctx); err != nil {
		return nil, err
	}
	background, quit := context.WithCancel(context.WithoutCancel(ctx))
	s.quit = quit
	if o.Inspect {
		return s, s.hasMeta(ctx)
	}
	if err := s.makeMeta(ctx); err != nil {
		return nil, err
	}
	for _, schema := range o.Schemas {
		if err := s.migrate(ctx, tables[schema.Name]); err != nil {
			return nil, fmt.Errorf("collection %s: %w", schema.Name, err)
		}
	}
	s.inBackground(func() { s.keepFilled(background) })
	return s, nil
}

// hasMeta returns ErrNoStore without a document of the epoch.
func (s *Store) hasMeta(ctx context.Context) error {
	err := s.meta().FindOne(ctx, byID(epochID)).Err()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return ErrNoStore
	}
	return err
}

// urlError returns the error of a URL that the driver does not take. It repeats nothing of the URL.
func urlError(err error) error {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Errorf("the DNS does not tell the hosts of the mongodb+srv URL: %s", dns.Err)
	}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("a file that the URL names can't be read: %w", file.Err)
	}
	return ErrURL
}

// durable returns the write concern of every write.
func durable() *writeconcern.WriteConcern {
	journal := true
	return &writeconcern.WriteConcern{W: "majority", Journal: &journal}
}

// fitServer returns an error for a server that is standalone or too old.
func (s *Store) fitServer(ctx context.Context) error {
	var hello struct {
		SetName        string `bson:"setName"`
		Message        string `bson:"msg"`
		MaxWireVersion int    `bson:"maxWireVersion"`
	}
	if err := s.client.Database("admin").RunCommand(ctx, bson.D{{Key: "isMaster", Value: 1}}).Decode(&hello); err != nil {
		return fmt.Errorf("no server answers: %w", err)
	}
	switch {
	case hello.SetName == "" && hello.Message != "isdbgrid":
		return ErrStandalone
	case hello.MaxWireVersion < minWireVersion:
		return ErrTooOld
	}
	return nil
}

// makeMeta makes the document of the epoch unless it exists.
func (s *Store) makeMeta(ctx context.Context) error {
	_, err := s.meta().UpdateOne(ctx, bson.D{{Key: "_id", Value: epochID}}, bson.D{{Key: "$setOnInsert", Value: bson.D{
		{Key: "gen", Value: rand.Text()}, {Key: "epoch", Value: int64(0)}, {Key: "lease_max", Value: int64(0)},
	}}}, options.UpdateOne().SetUpsert(true))
	if err != nil && !mongo.IsDuplicateKeyError(err) { // another replica was first
		return err
	}
	if err := s.makeCollection(ctx, revisionsName); err != nil {
		return err
	}
	return makeIndex(ctx, s.revisions(), mongo.IndexModel{
		Keys: bson.D{{Key: "epoch", Value: 1}}, Options: options.Index().SetName("by_epoch"),
	})
}

// makeCollection makes an empty collection unless it exists.
func (s *Store) makeCollection(ctx context.Context, name string) error {
	err := s.db.CreateCollection(ctx, name)
	if hasCode(err, codeNamespaceExists) {
		return nil
	}
	return err
}
