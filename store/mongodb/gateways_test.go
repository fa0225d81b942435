package mongodb_test

import (
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/store/mongodb"
	"github.com/portcullis-authz/portcullis/store/storetest"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestGatewaysAreSeen while they are connected, idle or not; a process of maintenance is none of them, and
// neither is a gateway of another database.
func TestGatewaysAreSeen(t *testing.T) {
	home, elsewhere := database(t), database(t)
	open := func(url string, maintenance bool) *mongodb.Store {
		s := must.Get(mongodb.Open(t.Context(), mongodb.Options{URL: url, Schemas: storetest.Schemas(), Maintenance: maintenance}))(t)
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	tool, _ := open(home, true), open(elsewhere, false)
	count := func() int {
		return must.Get(tool.Gateways(t.Context()))(t)
	}
	if n := count(); n != 0 {
		t.Errorf("%d connections before a gateway is there", n)
	}
	gateway := open(home, false)
	if count() == 0 {
		t.Error("a gateway is not seen")
	}
	must.Do(t, gateway.Close())
	for end := time.Now().Add(10 * time.Second); count() > 0; { // the server notices closed connections
		if time.Now().After(end) {
			t.Fatalf("%d connections after the gateway has gone", count())
		}
	}
}

// TestNameHasNoPassword: the name of a store is written into the target of its copy.
func TestNameHasNoPassword(t *testing.T) {
	for url, want := range map[string]string{
		"mongodb://ann:secret@h2:2,h1:1/x?replicaSet=r": "mongodb h1:1,h2:2/x",
		"mongodb://h1":     "mongodb h1/portcullis",
		"mongodb://[::":    "",
		"postgres://h1/db": "",
	} {
		got, err := mongodb.Name(url)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", url, got, err)
		}
	}
}
