package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/compare/guards"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/store"
)

// acceptBase has the guards of the last tree in force judge the tree to start with, if the program brings another base: no
// reload asks them about an upgrade. Nobody asks them about changes of the folder at a start. A tree that comes with the
// program has no guards.
func (a *app) acceptBase(ctx context.Context) error {
	next := a.policy.Source()
	if next.Base == "" || a.settings.Policy.Shipped() {
		return nil
	}
	var last *policies.Source
	raw, err := a.collections.LastPolicyTree(ctx, a.store)
	switch {
	case err == nil:
		last, err = overlay.Unpack(raw)
	case !errors.Is(err, store.ErrNotFound): // says nothing about the base
		return fmt.Errorf("policy: the tree that was in force last can't be read, and its guards can't be asked: %w", err)
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		if set, _, err := proof.Compile(ctx, next); err != nil || !guards.Guarded(set) {
			return err
		}
		a.log.Warn("no tree of the last start is kept: the guards are not asked whether this base may be in force", "base_revision", next.Base)
		return nil
	case err == nil && last.Base == next.Base:
		return nil
	case a.settings.Policy.AcceptBase == next.Base:
		a.log.Info("a new base of the policy is accepted, as --accept-base says", "base_revision", next.Base)
		return nil
	case err == nil:
		err = askOfBase(ctx, last, next)
	}
	if err != nil {
		return fmt.Errorf("policy: the base is %s now, and the guards of the tree that was in force last do not pass it: %w; "+
			"change the policy folder, or start once with --accept-base %[1]s", next.Base, err)
	}
	a.log.Info("the guards passed a new base of the policy", "base_revision", next.Base, "last", last.Base)
	return nil
}

// askOfBase compiles both trees and asks the guards of the last one. A tree that does not compile any more can't be compared.
func askOfBase(ctx context.Context, last, next *policies.Source) error {
	before, _, err := proof.Compile(ctx, last)
	if err != nil {
		return fmt.Errorf("they can't be asked: %w", err)
	}
	if !guards.Guarded(before) {
		return nil
	}
	after, _, err := proof.Compile(ctx, next)
	if err != nil {
		return err
	}
	return guards.Check(ctx, before, after)
}

const (
	// keptWithin bounds the write of the tree in force, which a reload waits for.
	keptWithin = 10 * time.Second
	// keptEvery is the pause before a failed write is tried again.
	keptEvery = 10 * time.Second
)

// keepPolicy keeps the tree of an operator's overlay for the next start, and warns of replaced parts with changes in the base.
func (a *app) keepPolicy(ctx context.Context) {
	for _, warning := range a.policy.Source().Warnings {
		a.log.Warn("policy: " + warning)
	}
	a.saveTree(ctx)
}

// saveTree writes the tree in force into the store.
func (a *app) saveTree(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, keptWithin)
	defer cancel()
	a.saving.Lock()
	defer a.saving.Unlock()
	tree := a.policy.Source()
	if tree.Base == "" || a.settings.Policy.Shipped() {
		return
	}
	raw, err := overlay.Pack(tree)
	if err == nil {
		err = a.collections.SavePolicyTree(ctx, a.store, raw)
	}
	switch failed := a.unsaved.Swap(err != nil); {
	case err != nil && !failed:
		a.log.Warn("the policy tree can't be kept for the next start, and is tried again: until then the guards of an older tree are asked about a new base",
			"error", err.Error())
	case err == nil && failed:
		a.log.Info("the policy tree is kept for the next start")
	}
}

// saveTreeAgain writes a tree that could not be written, until ctx ends.
func (a *app) saveTreeAgain(ctx context.Context) {
	again := time.NewTicker(keptEvery)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
		if a.unsaved.Load() {
			a.saveTree(ctx)
		}
	}
}

// askGuards has the guards of the tree in force judge the next one, and says how long that took.
func (a *app) askGuards(ctx context.Context, inForce, next *engine.Set) error {
	if !guards.Guarded(inForce) {
		return nil
	}
	began := time.Now()
	err := guards.Check(ctx, inForce, next)
	a.log.Info("guards asked about a policy change", "policy_revision", next.Revision(), "passed", err == nil,
		"duration_ms", time.Since(began).Milliseconds())
	return err
}
