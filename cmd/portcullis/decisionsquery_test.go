package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/masterkey"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/store/records"
)

// errSeen ends a reading of the test.
var errSeen = errors.New("seen enough")

// TestAFollowerGoesOnWhereAnAnswerEnds: it asks again from shortly before the newest decision, and takes each one once.
func TestAFollowerGoesOnWhereAnAnswerEnds(t *testing.T) {
	at := func(second int) string { return fmt.Sprintf("2026-01-31T12:00:%02d.000Z", second) }
	answers := [][]int{{20, 21}, {20, 21, 19, 22}, {}, {22, 23}}
	var asked []string
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query().Get("from"))
		w.Header().Set("Trailer", trailerWhole)
		for _, second := range answers[len(asked)-1] {
			fmt.Fprintf(w, `{"decision_id":"d-%d","timestamp":%q}`+"\n", second, at(second))
		}
		w.Header().Set(trailerWhole, "1")
	}))
	defer gateway.Close()
	var began resources.Time
	if err := began.UnmarshalJSON([]byte(`"` + at(15) + `"`)); err != nil {
		t.Fatal(err)
	}
	var got []string
	q := decisionsQuery{follow: true, from: began}
	err := q.ask(t.Context(), privateLog{url: gateway.URL, token: "t"}, func(e decisionlog.Event) error {
		if got = append(got, e.DecisionID); e.DecisionID == "d-23" {
			return errSeen
		}
		return nil
	})
	if !errors.Is(err, errSeen) || !slices.Equal(got, []string{"d-20", "d-21", "d-19", "d-22", "d-23"}) {
		t.Errorf("%v, %v", got, err)
	}
	if want := []string{at(15), at(15), at(15), at(15)}; !slices.Equal(asked, want) {
		t.Errorf("asked from %v, want %v", asked, want)
	}
	o := overlap{}
	for i := range 5000 {
		o.before(&decisionlog.Event{DecisionID: fmt.Sprint(i), Timestamp: resources.Time(100 * i).String()})
	}
	if from := o.from(0); len(o.known) > 1200 || from != resources.Time(100*4999)-unordered {
		t.Errorf("%d are remembered, from %d", len(o.known), from)
	}
}

// TestAVerificationLeavesTheMasterKey of the store as it is, whichever key stands first in the file that it is given.
func TestAVerificationLeavesTheMasterKey(t *testing.T) {
	dir, c := t.TempDir(), records.NewCollections()
	file := masterkey.File{DataDir: dir}
	inUse, err := file.ReadOrMake()
	if err != nil {
		t.Fatal(err)
	}
	check := func() error {
		opened, err := openStore(t.Context(), config.Store{DataDir: dir}, c, nil)
		if err != nil {
			return err
		}
		return errors.Join(masterkey.CheckStore(t.Context(), opened, c, inUse), opened.Close())
	}
	if err := check(); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Add(masterkey.First); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "decisions"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := verifyDecisions(t.Context(), io.Discard, config.Store{DataDir: dir}); err != nil {
		t.Fatal(err)
	}
	if err := check(); err != nil {
		t.Errorf("after a verification: %v", err)
	}
	other := masterkey.File{DataDir: t.TempDir()}
	if _, err := other.ReadOrMake(); err != nil {
		t.Fatal(err)
	}
	err = verifyDecisions(t.Context(), io.Discard, config.Store{DataDir: dir, MasterKeyFile: filepath.Join(other.DataDir, masterkey.FileName)})
	if !errors.Is(err, masterkey.ErrOtherKey) {
		t.Errorf("with another key: %v", err)
	}
}
