package engine

import (
	"context"
	"fmt"
	"io/fs"
	"reflect"
	"sync"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/limits"
	"github.com/portcullis-authz/portcullis/resources"
)

// Reload loads and proves the tree and brings it into force. On an error, which is
// also told to the observer and kept as LastRefusal, the tree in force stays.
func (e *Engine) Reload(ctx context.Context, tree fs.FS) error {
	src, err := e.opts.read(tree)
	if err != nil {
		return e.Refuse(err)
	}
	return e.Take(ctx, src)
}

// Take is Reload for a tree that was read.
func (e *Engine) Take(ctx context.Context, src *policies.Source) error {
	e.reload.Lock()
	defer e.reload.Unlock()
	now := e.current.Load()
	if src.Revision == now.Revision() {
		e.refusal.Store(nil) // a bad edit was taken back
		return nil
	}
	set, err := e.load(ctx, src)
	if ctx.Err() != nil {
		return ctx.Err() // the proof was broken off, which says nothing of the tree
	}
	if err != nil {
		return e.refuse(src, err)
	}
	if check := e.opts.CheckRoutes; check != nil && !reflect.DeepEqual(set.tree.Routes, now.tree.Routes) {
		if err := check(set.Routes()); err != nil {
			return e.refuse(src, fmt.Errorf("routes/data.json: the gateway can't serve this catalogue: %w", err))
		}
	}
	if check := e.opts.CheckChange; check != nil {
		err := check(ctx, now, set)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return e.refuse(src, err)
		}
	}
	e.bring(set)
	e.refusal.Store(nil)
	e.opts.Observer.Reloaded(set.Revision())
	return nil
}

// bring puts a set into force, with an empty cache of its own.
func (e *Engine) bring(set *Set) {
	set.verdicts = newCache[resources.Decision](e.opts.Verdicts)
	if len(set.tree.Apps) > 0 {
		set.apps.answers = newCache[resources.AppDecision](e.opts.Verdicts)
	}
	if pace := e.opts.Pace; pace != (limits.Pace{}) {
		set.bounds = sync.Pool{New: func() any { return limits.NewBounds(pace) }}
	}
	e.current.Store(set)
}

// Refuse reports to the observer that the newest tree is not taken and could not be read. It keeps the error as the last refusal. It returns
// the error.
func (e *Engine) Refuse(err error) error { return e.refuse(nil, err) }

// refuse is Refuse for a tree that was read.
func (e *Engine) refuse(src *policies.Source, err error) error {
	e.refusal.Store(&err)
	e.opts.Observer.Refused(src, err)
	return err
}
