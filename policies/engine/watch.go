package engine

import (
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watcher follows a folder for an engine.
type watcher struct {
	engine *Engine
	dir    string
	notify *fsnotify.Watcher
	// judged is the state of the folder, a revision or a reading error, that was
	// judged last; seen is one that is to be judged if it stays.
	judged, seen string
	// stamps are of the newest reading; nil after one that failed.
	stamps *stamps
	// watched are the folders of which notices come.
	watched map[string]bool
}

// Watch keeps the engine at the tree in dir until ctx is done, and returns ctx's
// error then. Notices of the file system make it prompt; looking at the tree every
// Options.Poll makes it certain, since notices are missed on network folders, and
// for links that are swapped far from the folders that are watched.
//
// A tree is read at a moment of its author's choosing: who changes several files
// that only fit together swaps a link to the folder, as a ConfigMap does.
func (e *Engine) Watch(ctx context.Context, dir string) error {
	w := &watcher{engine: e, dir: dir, judged: e.Revision()}
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
			if w.look(ctx) {
				settle.Reset(e.opts.Settle)
			}
		case <-poll.C:
			if w.stamps != nil && w.stamps.unchanged(Dir(w.dir)) && w.seen == "" {
				continue
			}
			if w.look(ctx) {
				settle.Reset(e.opts.Settle)
			}
		}
	}
}

// look reads the tree and has it judged where it is new, once two readings were
// alike: a file that is being written is no author's will. It asks for the second.
func (w *watcher) look(ctx context.Context) (again bool) {
	src, err := readSource(Dir(w.dir))
	for err == nil && w.follow(src.folders) {
		// What changed between the reading and the first watching gave no notice.
		src, err = readSource(Dir(w.dir))
	}
	var state string
	w.stamps = nil
	if err != nil {
		state = "unreadable: " + err.Error()
	} else {
		state, w.stamps = src.revision, src.stamps
	}
	if state == w.judged {
		w.seen = ""
		return false
	}
	if state != w.seen {
		w.seen = state
		return true
	}
	w.judged, w.seen = state, ""
	if err != nil {
		_ = w.engine.refuse(err) // told to the observer
	} else {
		_ = w.engine.take(ctx, src) // told to the observer
	}
	return false
}

// follow watches every folder of the tree as it is now, and says whether there was
// a new one. One that is watched already stays so; one that is gone was dropped by
// the system. The poll covers a folder that can't be watched.
func (w *watcher) follow(folders []string) bool {
	if w.notify == nil {
		return false
	}
	fresh := false
	watched := make(map[string]bool, len(folders))
	for _, folder := range folders {
		err := w.notify.Add(filepath.Join(w.dir, folder))
		watched[folder] = err == nil
		fresh = fresh || err == nil && !w.watched[folder]
	}
	w.watched = watched
	return fresh
}
