package main

import (
	"context"
	"errors"
	"testing"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/demo"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// conflicting is a store that undoes the first try of each change.
type conflicting struct{ store.Store }

func (s conflicting) Transact(ctx context.Context, fn func(store.Tx) error) error {
	conflict := errors.New("a conflict")
	err := s.Store.Transact(ctx, func(tx store.Tx) error { return errors.Join(fn(tx), conflict) })
	if !errors.Is(err, conflict) {
		return err
	}
	return s.Store.Transact(ctx, fn)
}

// pathLog is a decision log that keeps the questions.
type pathLog struct{ paths []string }

func (l *pathLog) Record(_ context.Context, all ...*resources.Judgement) error {
	for _, j := range all {
		l.paths = append(l.paths, j.Path)
	}
	return nil
}

// TestAnUndoneTryLeavesNoVerdict: what a handler asks policy inside a change is recorded once, though the change was tried
// twice.
func TestAnUndoneTryLeavesNoVerdict(t *testing.T) {
	a, routes := demoApp(t, func(*config.Config) {}, func(s store.Store) store.Store { return conflicting{s} })
	log := &pathLog{}
	a.judge.Log = log
	if err := a.judge.Handle(t.Context(), func(ctx context.Context) error {
		_, err := routes["role_assignment.put"](ctx, requestOf("role_assignment.put", signedIn(demo.Alice)))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(log.paths) != 1 || log.paths[0] != resources.PathGrantable {
		t.Errorf("recorded %v", log.paths)
	}
}
