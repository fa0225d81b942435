package mongodb_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/store/storetest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// freeAgain is the longest time for a change behind an abandoned transaction: on a busy machine at
// a second try, and long before the server ends it after a minute.
const freeAgain = 30 * time.Second

// heldTransaction is a transaction that an application holds open, with a document of authz_meta.
type heldTransaction struct {
	t    *testing.T
	ctx  context.Context
	ses  *mongo.Session
	meta *mongo.Collection
	id   string
}

// leave takes the name of an application, or "" for that of the database's own gateways.
func leave(t *testing.T, url, application, id string) *heldTransaction {
	t.Helper()
	where := must.Get(connstring.Parse(url))(t)
	application = cmp.Or(application, "portcullis/"+where.Database)
	client := must.Get(mongo.Connect(options.Client().ApplyURI(url).SetAppName(application)))(t)
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	ses := must.Get(client.StartSession())(t)
	must.Do(t, ses.StartTransaction())
	l := &heldTransaction{t: t, ctx: mongo.NewSessionContext(t.Context(), ses), ses: ses, meta: client.Database(where.Database).Collection("authz_meta"), id: id}
	l.write()
	return l
}

func (l *heldTransaction) write() {
	l.t.Helper()
	update := bson.D{{Key: "$inc", Value: bson.D{{Key: "touched", Value: 1}}}}
	must.Get(l.meta.UpdateOne(l.ctx, bson.D{{Key: "_id", Value: l.id}}, update, options.UpdateOne().SetUpsert(true)))(l.t)
}

func bumpA(ctx context.Context, s *mongodb.Store) error {
	return s.Transact(ctx, func(tx store.Tx) error { _, err := tx.Bump(ctx, "a"); return err })
}

// bumpedAgain tries until a change gets through, and says how long that took.
func bumpedAgain(t *testing.T, s *mongodb.Store) (took time.Duration, err error) {
	t.Helper()
	for started := time.Now(); ; {
		err = bumpA(t.Context(), s)
		if took = time.Since(started); !errors.Is(err, store.ErrUnavailable) || took > freeAgain {
			return took, err
		}
	}
}

// TestAbandonedTransactionIsEnded: the changes of others don't wait for the server to do it,
// and another application's transaction is left alone.
func TestAbandonedTransactionIsEnded(t *testing.T) {
	url := database(t)
	s := open(t, url, storetest.Schemas()...)
	foreign := leave(t, url, "other", "else")
	l := leave(t, url, "", "epoch")
	if took, err := bumpedAgain(t, s); err != nil {
		t.Errorf("after %s: %v", took, err)
	}
	if err := l.ses.CommitTransaction(t.Context()); err == nil {
		t.Error("the abandoned transaction was committed")
	}
	if err := foreign.ses.CommitTransaction(t.Context()); err != nil {
		t.Errorf("the other application's: %v", err)
	}
}

// TestForeignTransactionIsNotEnded, also where it is in the way.
func TestForeignTransactionIsNotEnded(t *testing.T) {
	url := database(t)
	s := open(t, url, storetest.Schemas()...)
	foreign := leave(t, url, "other", "epoch")
	if err := bumpA(t.Context(), s); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if err := foreign.ses.CommitTransaction(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestTransactionOfAnotherDatabaseIsNotEnded: its gateways are on the same server, have the same
// user, and are in nobody's way.
func TestTransactionOfAnotherDatabaseIsNotEnded(t *testing.T) {
	url := database(t)
	s := open(t, url, storetest.Schemas()...)
	other := leave(t, database(t), "", "epoch")
	local := leave(t, url, "", "epoch")
	if took, err := bumpedAgain(t, s); err != nil {
		t.Errorf("after %s: %v", took, err)
	}
	if err := local.ses.CommitTransaction(t.Context()); err == nil {
		t.Error("the abandoned transaction was committed")
	}
	if err := other.ses.CommitTransaction(t.Context()); err != nil {
		t.Errorf("the other database's: %v", err)
	}
}

// TestSlowTransactionIsNotEnded: one that does something now and then.
func TestSlowTransactionIsNotEnded(t *testing.T) {
	url := database(t)
	s := open(t, url, storetest.Schemas()...)
	slow := leave(t, url, "", "epoch")
	answer := make(chan error, 1)
	go func() { answer <- bumpA(t.Context(), s) }()
	for now := time.NewTicker(300 * time.Millisecond); ; {
		select {
		case <-now.C:
			slow.write()
			continue
		case err := <-answer:
			if !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("the change was made: %v", err)
			}
		}
		break
	}
	if err := slow.ses.CommitTransaction(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestEndedChangeIsRunAgain: one that was only slow, and finds its transaction ended, before
// another write or at its commit.
func TestEndedChangeIsRunAgain(t *testing.T) {
	for name, id := range map[string]string{"before a write": "b", "at the commit": ""} {
		t.Run(name, func(t *testing.T) {
			g := newGrouped(t)
			client, err := mongo.Connect(options.Client().ApplyURI(g.url))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = client.Disconnect(t.Context()) }()
			runs := 0
			err = g.Transact(t.Context(), func(tx store.Tx) error {
				if err := g.notes.Insert(t.Context(), tx, note{ID: "a"}); err != nil {
					return err
				}
				if runs++; runs == 1 {
					sent := g.sent.all()
					end := bson.D{{Key: "killSessions", Value: bson.A{sent[len(sent)-1].lookup("lsid")}}}
					if err := client.Database("admin").RunCommand(t.Context(), end).Err(); err != nil {
						t.Error(err)
					}
				}
				if id == "" {
					return nil
				}
				return g.notes.Insert(t.Context(), tx, note{ID: id})
			})
			if err != nil || runs != 2 {
				t.Errorf("%d runs, %v", runs, err)
			}
			g.wantNotes(map[string]bool{"a": true})
		})
	}
}

// envHold turns this test into a process in the middle of a change in the named database.
const envHold = "PORTCULLIS_TEST_HOLD"

// TestKilledProcessIsOutOfTheWay: one that is killed in the middle of a change, with SIGKILL.
func TestKilledProcessIsOutOfTheWay(t *testing.T) {
	if url := os.Getenv(envHold); url != "" {
		t.Error(open(t, url, storetest.Schemas()...).Transact(t.Context(), func(tx store.Tx) error {
			_, err := tx.Bump(t.Context(), "a")
			fmt.Println("held")
			<-t.Context().Done()
			return err
		}))
	}
	url := database(t)
	s := open(t, url, storetest.Schemas()...)
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	process.Env = append(os.Environ(), envHold+"="+url)
	out := must.Get(process.StdoutPipe())(t)
	must.Do(t, process.Start())
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "held"; {
		t.Log(lines.Text())
	}
	_ = process.Process.Kill() // SIGKILL
	_ = process.Wait()         // killed is how it ends
	if took, err := bumpedAgain(t, s); err != nil || took < 50*time.Millisecond {
		t.Errorf("after %s: %v", took, err)
	}
}
