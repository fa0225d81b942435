package main

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
)

// TestNoHandlerWaitsForTheGate: handlers ask while they hold a session or the writer, for
// which those wait who are through the gate. So a gate at which nobody gets through holds
// up none of them.
func TestNoHandlerWaitsForTheGate(t *testing.T) {
	a, routes := demoApp(t, func(s *config.Config) { s.Limits.Waiting = 0 })
	for a.gates.work.Enter(t.Context()) == nil {
		defer a.gates.work.Leave()
	}
	for _, name := range slices.Sorted(maps.Keys(routes)) {
		t.Run(name, func(t *testing.T) {
			caller := signedIn(demoAlice)
			if forServices(name) {
				caller = aService()
			}
			_, err := routes[name](t.Context(), requestOf(name, caller))
			if err == nil {
				return
			}
			switch e := resources.AsError(err); {
			case errors.Is(err, gate.ErrFull):
				t.Error(err)
			case e.Kind != resources.KindNotFound && e.Kind != resources.KindConflict && e.Kind != resources.KindForbidden:
				t.Errorf("it did not get as far as policy: %v %v", err, e.Problems)
			}
		})
	}
}
