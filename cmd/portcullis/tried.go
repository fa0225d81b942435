package main

import (
	"context"

	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/store"
)

// tried is a store whose transactions forget the verdicts of tries that are undone (verdict.Tried).
type tried struct{ store.Store }

// View implements store.Store.
func (s tried) View(ctx context.Context, fn func(store.Tx) error) error {
	return verdict.Tried(ctx, s.Store.View, fn)
}

// Transact implements store.Store.
func (s tried) Transact(ctx context.Context, fn func(store.Tx) error) error {
	return verdict.Tried(ctx, s.Store.Transact, fn)
}
