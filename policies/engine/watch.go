package engine

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watcher follows a folder for an engine.
type watcher struct {
	engine *Engine
	dir    string
	notify *fsnotify.Watcher
	// tried is the revision looked at last, unread the last reading error: each is judged once.
	tried, unread string
}

// Watch keeps the engine at the tree in dir until ctx is done, and returns ctx's
// error then. Notices of the file system make it prompt; reading the tree every
// Options.Poll makes it certain, since notices are missed on network folders, and
// for links that are swapped far from the folders that are watched.
//
// A tree is read at a moment of its author's choosing: who changes several files
// that only fit together swaps a link to the folder, as a ConfigMap does.
func (e *Engine) Watch(ctx context.Context, dir string) error {
	w := &watcher{engine: e, dir: dir, tried: e.Revision()}
	// Without notices, as when the system's limit on them is reached, the poll is left.
	var events <-chan fsnotify.Event
	var errs <-chan error
	if notify, err := fsnotify.NewWatcher(); err == nil {
		defer func() { _ = notify.Close() }() // nothing is left to lose
		w.notify, events, errs = notify, notify.Events, notify.Errors
	}
	poll := time.NewTicker(e.opts.Poll)
	defer poll.Stop()
	settle := time.NewTimer(0) // the folder may have changed since it was loaded
	defer settle.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-events:
			settle.Reset(e.opts.Settle)
		case _, open := <-errs:
			if open { // notices were lost; reading the tree makes up for it
				settle.Reset(e.opts.Settle)
			}
		case <-settle.C:
			w.look(ctx)
		case <-poll.C:
			w.look(ctx)
		}
	}
}

// look reads the tree and has it judged where it is new.
func (w *watcher) look(ctx context.Context) {
	src, err := readSource(os.DirFS(w.dir))
	if err != nil {
		if text := err.Error(); text != w.unread {
			w.unread, w.tried = text, ""
			_ = w.engine.refuse(err) // told to the observer
		}
		return
	}
	w.unread = ""
	w.follow(src.folders)
	if src.revision == w.tried {
		return
	}
	w.tried = src.revision
	_ = w.engine.take(ctx, src) // told to the observer
}

// follow watches every folder of the tree as it is now; one that is watched already
// stays so, and one that is gone was dropped by the system.
func (w *watcher) follow(folders []string) {
	if w.notify == nil {
		return
	}
	for _, folder := range folders {
		_ = w.notify.Add(filepath.Join(w.dir, folder)) // the poll covers a folder that can't be watched
	}
}
