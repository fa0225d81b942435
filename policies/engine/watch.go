package engine

import (
	"context"
	"os"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
)

// watcher follows a folder for an engine.
type watcher struct {
	engine *Engine
	dir    string
	// judged is the last judged state of the folder, a revision or a reading error. seen is the newest state; it is
	// judged if the next reading finds it again.
	judged, seen string
	// read is the newest reading; nil after one that failed.
	read *policies.Source
}

// Watch keeps the engine at the tree in dir until ctx is done, and returns ctx's error then. It reads the files every
// Options.Poll, and takes a changed tree if two readings in a row agree; a signal on now is a reading without a second
// one.
//
// An author can change several dependent files at once by swapping a link to the folder, as a ConfigMap does.
func (e *Engine) Watch(ctx context.Context, dir string, now <-chan os.Signal) error {
	w := &watcher{engine: e, dir: dir, judged: e.Revision()}
	poll := time.NewTicker(e.opts.Poll)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-poll.C:
			w.look(ctx, false)
		case <-now:
			w.look(ctx, true)
		}
	}
}

// look reads the tree if its files may have changed, and judges a new one. A certain look judges any.
func (w *watcher) look(ctx context.Context, certain bool) {
	tree := policies.Dir(w.dir)
	if !certain && w.seen == "" && w.read != nil && w.read.Unchanged(tree) {
		return
	}
	src, err := w.engine.opts.read(tree)
	w.read = src
	var state string
	if err != nil {
		state = "unreadable: " + err.Error()
	} else {
		state = src.Revision
	}
	switch {
	case certain:
	case state == w.judged:
		w.seen = ""
		return
	case state != w.seen: // a file may be half written
		w.seen = state
		return
	}
	w.judged, w.seen = state, ""
	if err != nil {
		_ = w.engine.Refuse(err) // told to the observer
	} else {
		_ = w.engine.Take(ctx, src) // told to the observer
	}
}
