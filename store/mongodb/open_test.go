package mongodb_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/store/storetest"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// TestStandaloneServerIsRefused: it has no transactions, and says what to do.
func TestStandaloneServerIsRefused(t *testing.T) {
	_, err := mongodb.Open(t.Context(), mongodb.Options{URL: servers.StandaloneMongo(t), Schemas: storetest.Schemas()})
	if !errors.Is(err, mongodb.ErrStandalone) || !strings.Contains(err.Error(), "--replSet") {
		t.Errorf("got %v", err)
	}
}

// TestUnreadableURLIsNotTold: any part of it may be a password.
func TestUnreadableURLIsNotTold(t *testing.T) {
	for _, url := range []string{
		"", "S3CR3T", "http://u:S3CR3T@h", "mongodb://u:S3CR3T", "mongodb://u:S3CR3T@@h", "mongodb://u:S3CR3T@h:port", "mongodb://u:S3C%R3T@h",
		"mongodb://u:S3CR3T@h/?w=S3CR3T&w=0&tls=S3CR3T", "mongodb://", "mongodb://h/?replicaSet=",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		_, err := mongodb.Open(ctx, mongodb.Options{URL: url})
		cancel()
		if err == nil || strings.Contains(err.Error(), "S3C") {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// TestURLThatCannotBeUsedIsNotCalledUnreadable guarantees that the operator learns the problem. Nothing of the URL is
// shown.
func TestURLThatCannotBeUsedIsNotCalledUnreadable(t *testing.T) {
	resolver := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = resolver })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("there is no network")
	}}
	for url, want := range map[string]string{
		"mongodb+srv://u:S3CR3T@S3CR3T.cluster.example/db":               "DNS",
		"mongodb://u:S3CR3T@h/db?tls=true&tlsCAFile=/nowhere/S3CR3T.pem": "no such file",
	} {
		_, err := mongodb.Open(t.Context(), mongodb.Options{URL: url})
		if err == nil || errors.Is(err, mongodb.ErrURL) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "S3CR3T") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestServerThatDoesNotAnswerEndsOpen in time, without a word of the password.
func TestServerThatDoesNotAnswerEndsOpen(t *testing.T) {
	started := time.Now()
	_, err := mongodb.Open(t.Context(), mongodb.Options{URL: "mongodb://user:S3CR3T@127.0.0.1:1/?replicaSet=rs0"})
	if err == nil || strings.Contains(err.Error(), "S3CR3T") || time.Since(started) > 10*time.Second {
		t.Errorf("after %s: %v", time.Since(started), err)
	}
}

// TestURLCannotWeakenWrites: what it says of concerns is not taken.
func TestURLCannotWeakenWrites(t *testing.T) {
	url := database(t)
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	commands := &recorder{}
	s := must.Get(mongodb.Open(t.Context(), mongodb.Options{
		URL: url + separator + "w=1&journal=false&readConcernLevel=local&readPreference=secondary&retryWrites=false", Schemas: storetest.Schemas(), Monitor: commands.monitor(),
	}))(t)
	defer func() { _ = s.Close() }()
	commands.reset()
	must.Do(t, s.Transact(t.Context(), func(tx store.Tx) error { _, err := tx.Bump(t.Context(), "a"); return err }))
	must.Do(t, s.Check(t.Context()))
	commits := 0
	for _, c := range commands.all() {
		if c.name != "commitTransaction" && c.name != "update" || c.inTransaction() {
			continue
		}
		commits++
		if c.lookup("writeConcern", "w") != "majority" || c.lookup("writeConcern", "j") != true {
			t.Errorf("%s is written with %v", c.name, c.raw)
		}
	}
	if commits != 2 {
		t.Errorf("%d writes were seen, want the commit and the probe", commits)
	}
}
