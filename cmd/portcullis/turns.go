package main

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/store"
)

// inTurns is a store of which accounts take turns: in snapshots, and in changes. An engine lends its sessions in the order
// in which it was asked, and most of what a handler does is done while it holds one.
type inTurns struct {
	store.Store
	views, changes *gate.Gate
}

// View implements store.Store.
func (s inTurns) View(ctx context.Context, fn func(store.Tx) error) error {
	if err := s.views.Enter(ctx, ""); err != nil {
		return err
	}
	defer s.views.Leave()
	return s.Store.View(ctx, fn)
}

// Transact implements store.Store.
func (s inTurns) Transact(ctx context.Context, fn func(store.Tx) error) error {
	if err := s.changes.Enter(ctx, ""); err != nil {
		return err
	}
	defer s.changes.Leave()
	return s.Store.Transact(ctx, fn)
}
