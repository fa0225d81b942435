package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/portcullis-authz/portcullis/gateway/private"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/decisions"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
	"github.com/portcullis-authz/portcullis/store/records"
)

// logHeads implements decisionlog.Heads over the store.
type logHeads struct {
	store       store.Store
	collections records.Collections
}

// SaveHead implements decisionlog.Heads.
func (h logHeads) SaveHead(ctx context.Context, head decisionlog.Head) error {
	return h.collections.SaveLogHead(ctx, h.store, records.LogHead(head))
}

// Heads implements decisionlog.Heads.
func (h logHeads) Heads(ctx context.Context) ([]decisionlog.Head, error) {
	all, err := h.collections.AllLogHeads(ctx, h.store)
	out := make([]decisionlog.Head, len(all))
	for i, head := range all {
		out[i] = decisionlog.Head(head)
	}
	return out, err
}

// openDecisions opens the decision log, unless it is off.
func (a *app) openDecisions(ctx context.Context) error {
	s := a.settings.Decisions
	if !s.On() {
		return nil
	}
	o := decisionlog.Options{
		Dir: a.settings.Store.DecisionsDir(), Required: s.Required(), Size: int64(s.Size), Age: s.Age,
		Secrets: a.master.Derive(resources.PurposeLog), Heads: logHeads{a.store, a.collections},
		Mask: a.policy, Input: engine.RecordedInput, Version: version(), Now: a.ids.Now, Log: a.log.Logger,
	}
	if s.URL != "" {
		o.Sink = &decisionlog.Sink{URL: s.URL, Client: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}}
	}
	log, err := decisionlog.Open(ctx, o)
	if err != nil {
		return fmt.Errorf("--decision-log: %w", err)
	}
	a.decisions = log
	a.metrics.WatchDecisions(log)
	return nil
}

// newDecisionsArea makes the handlers of decisions.
func (a *app) newDecisionsArea() *decisions.Service {
	cfg := decisions.Config{
		Authorize: a.access.Reauthorize, Tokens: a.tokens, Now: a.ids.Now,
		Others: private.NewFleet(a.settings.Areas.Gateways, a.assertions, a.ids).Others,
	}
	if a.decisions != nil {
		cfg.Own, cfg.Watch = a.ownDecisions(), a.decisions.Watch
	}
	return decisions.New(cfg)
}

// ownDecisions is the decision log of this process.
func (a *app) ownDecisions() decisions.Folder {
	return decisions.Folder{Dir: a.settings.Store.DecisionsDir(), Index: &a.decisionIndex, Input: engine.RecordedInput, Turns: a.gates.decisions}
}

// decisionLogStatus is what the status says of the decision log.
type decisionLogStatus struct {
	Mode    string `json:"mode"`
	Written uint64 `json:"written"`
	Lost    uint64 `json:"lost"`
	// LostByAccount has the ten that have lost most.
	LostByAccount map[string]uint64 `json:"lost_by_account,omitempty"`
	Failures      uint64            `json:"failures"`
	Waiting       int               `json:"waiting"`
	UnsentBytes   int64             `json:"unsent_bytes"`
}

// recordTo returns the log of the callers' verdicts, nil for none: the decision log, and a candidate policy.
func (a *app) recordTo() resources.DecisionLog {
	var log resources.DecisionLog
	if a.decisions != nil {
		log = a.decisions
	}
	if a.shadow != nil {
		return shadowedLog{a.shadow, log}
	}
	return log
}

// closeDecisions ends the decision log, after the last request and before the store is closed.
func (a *app) closeDecisions() error {
	if a.decisions == nil {
		return nil
	}
	if err := a.decisions.Close(); err != nil {
		return fmt.Errorf("--decision-log: %w", err)
	}
	return nil
}
