package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/masterkey"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/store/records"
)

// begun is a response that tells when it begins to be sent.
type begun struct {
	*httptest.ResponseRecorder
	once sync.Once
	at   chan struct{}
}

// Flush implements http.Flusher.
func (b *begun) Flush() { b.once.Do(func() { close(b.at) }) }

// TestReadersOfDecisionsAreBounded: more than two at once are asked to come again, and a follower who leaves makes room.
func TestReadersOfDecisionsAreBounded(t *testing.T) {
	a := &app{core: &core{settings: &config.Config{Store: config.Store{DataDir: t.TempDir()}}}, decisions: new(decisionlog.Log)}
	handler := a.decisionsHandler()
	ask := func(ctx context.Context, query string) (*begun, <-chan struct{}) {
		w, left := &begun{ResponseRecorder: httptest.NewRecorder(), at: make(chan struct{})}, make(chan struct{})
		go func() {
			defer close(left)
			handler(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/decisions"+query, http.NoBody))
		}()
		return w, left
	}
	ctx, leave := context.WithCancel(t.Context())
	var followers []<-chan struct{}
	for range maxDecisionReaders {
		w, left := ask(ctx, "?follow=true")
		<-w.at
		followers = append(followers, left)
	}
	w, left := ask(t.Context(), "")
	<-left
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d while all places are taken", w.Code)
	}
	leave()
	for _, left := range followers {
		<-left
	}
	w, left = ask(t.Context(), "")
	<-left
	if w.Code != http.StatusOK {
		t.Errorf("%d after the followers have left", w.Code)
	}
}

// TestAWrongQueryOfDecisionsIsRefused, and is not taken for one that asks for less.
func TestAWrongQueryOfDecisionsIsRefused(t *testing.T) {
	a := &app{core: &core{settings: &config.Config{Store: config.Store{DataDir: t.TempDir()}}}, decisions: new(decisionlog.Log)}
	for _, query := range []string{"follow=yes", "order=up", "limit=-1", "user=a&user=b", "verdict=no", "since=now", "what=x"} {
		w := httptest.NewRecorder()
		a.decisionsHandler()(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/decisions?"+query, http.NoBody))
		if w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d: %s", query, w.Code, w.Body)
		}
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
