package main

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// leave takes requests for --shutdown-delay, and lets each answer end its connection.
func (a *app) leave(failed <-chan error) error {
	a.edge.Leave()
	if a.checks != nil {
		a.checks.Leave()
	}
	select {
	case err := <-failed:
		return err
	case <-time.After(a.settings.Limits.Delay):
		return nil
	}
}

// drain lets requests under way end, for --drain-timeout at most.
func (a *app) drain(private *http.Server, site *consoleServer) error {
	ctx, cancel := context.WithTimeout(context.Background(), a.settings.Limits.Drain)
	defer cancel()
	var checks sync.WaitGroup
	if a.checks != nil {
		checks.Go(func() { a.checks.Shutdown(ctx) })
	}
	site.shutdown(a.settings.Limits.Drain / 2) // the rest is the edge's
	err := a.edge.Shutdown(ctx)
	checks.Wait()
	if errors.Is(err, context.DeadlineExceeded) {
		a.log.Warn("some requests did not end in time", "drain_timeout", a.settings.Limits.Drain)
		err = nil
	}
	return errors.Join(err, private.Close())
}

// background is the work beside requests; it ends before the store is closed.
type background struct {
	// stopMail ends deliveries, while requests still drain.
	stopMail context.CancelFunc
	// stopUses ends the notes of used keys, after the last request.
	stopUses context.CancelFunc
	wait     sync.WaitGroup
}

// runBackground starts the work beside requests.
func (a *app) runBackground() *background {
	mail, stopMail := context.WithCancel(context.Background())
	uses, stopUses := context.WithCancel(context.Background())
	b := &background{stopMail: stopMail, stopUses: stopUses}
	b.wait.Go(func() { a.saveTreeAgain(uses) })
	if a.outbox == nil {
		return b
	}
	b.wait.Go(func() { a.outbox.Run(mail) })
	b.wait.Go(func() { a.uses.Run(uses) })
	b.wait.Go(func() { a.cache.Run(uses) })
	b.wait.Go(func() { a.mcp.Pins.Run(uses) })
	return b
}

// end stops all of the work and waits for it.
func (b *background) end() {
	b.stopMail()
	b.stopUses()
	b.wait.Wait()
}

// close exports the last spans and closes the store.
func (a *app) close() error {
	if err := a.tracing.Close(); err != nil {
		a.log.Warn("tracing: the last spans were not exported", "error", err.Error())
	}
	return errors.Join(a.closeDecisions(), a.store.Close())
}
