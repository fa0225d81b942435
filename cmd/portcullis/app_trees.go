package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/cmd/portcullis/tickets"
	"github.com/portcullis-authz/portcullis/gateway/private"
	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/policies/proof"
	"github.com/portcullis-authz/portcullis/policies/shadow"
	"github.com/portcullis-authz/portcullis/resources"
)

// openPolicy loads the configured tree. The feed is nil for a tree without a bundle.
func openPolicy(ctx context.Context, settings *config.Config, options engine.Options, log *slog.Logger) (*engine.Engine, *bundles.Feed, error) {
	if settings.Policy.Bundle == "" {
		tree, err := policyTree(settings.Policy.Dir)
		if err != nil {
			return nil, nil, fmt.Errorf("--policy-dir: %w", err)
		}
		load := proof.Load
		if settings.Policy.Shipped() {
			load = proof.LoadProven // by TestShippedTreesHold; it would take two thirds of a start
		}
		if settings.Demo && settings.Policy.Shipped() {
			tree = tickets.Policy()
		}
		options.Read = overlay.Read
		policy, err := engine.New(ctx, tree, load, options)
		if err != nil {
			return nil, nil, fmt.Errorf("policy: %w", err)
		}
		return policy, nil, nil
	}
	key, err := bundleKey(settings.Policy.BundleKey)
	if err != nil {
		return nil, nil, err
	}
	feed := bundles.NewFeed(bundles.FeedConfig{
		From: settings.Policy.Bundle, Key: key, AllowOlder: settings.Policy.BundleAllowOlder, Dir: settings.Store.DataDir, Poll: settings.Policy.BundlePoll, Log: log,
	})
	var policy *engine.Engine
	refused, err := feed.Start(ctx, func(src *policies.Source) (err error) {
		policy, err = engine.NewOf(ctx, src, proof.Load, options)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("--policy-bundle: %w", err)
	}
	if refused != nil {
		_ = policy.Refuse(refused) // counted and logged
	}
	return policy, feed, nil
}

// bundleKey reads --policy-bundle-key, nil for none.
func bundleKey(file string) (*bundles.Key, error) {
	if file == "" {
		return nil, nil
	}
	text, err := bundles.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--policy-bundle-key: %w", err)
	}
	key, err := bundles.ReadKey(text)
	if err != nil {
		return nil, fmt.Errorf("--policy-bundle-key: %s: %w", file, err)
	}
	return key, nil
}

// liveTreeName names the tree in force of a running gateway.
const liveTreeName = "live"

// readTree reads a tree by its name: a folder, a bundle, `embedded` or "", or `live`, the one in force of the
// gateway whose private listener is at the URL. The key is for bundles.
func readTree(ctx context.Context, name, url string, key *bundles.Key) (*policies.Source, error) {
	switch name {
	case liveTreeName:
		return private.ReadTree(ctx, url)
	case "":
		name = bundles.Embedded
	}
	if !isBundle(name) {
		key = nil
	}
	return bundles.ReadTree(name, key)
}

// defaultPrivateURL is where a gateway of this machine has its private listener.
const defaultPrivateURL = "http://" + config.DefaultHealthListen

// newShadow returns what judges by --shadow-policy-dir, nil without one.
func (a *app) newShadow() *shadow.Shadow {
	s := a.settings.Policy
	if s.ShadowDir == "" {
		return nil
	}
	return shadow.New(shadow.Options{
		Dir: s.ShadowDir, Sample: s.ShadowSample, Read: overlay.Read, Load: loadServable,
		Observe: a.metrics.WatchShadow(shadow.Outcomes()...), Log: a.log.Logger,
	})
}

// loadServable is an engine.Loader of trees that a reload would take.
func loadServable(ctx context.Context, src *policies.Source) (*engine.Set, error) {
	p, err := prove(ctx, src)
	if err != nil {
		return nil, err
	}
	return p.Set, nil
}

// shadowedLog offers the callers' verdicts to the candidate, with their ids. It leaves out those of apps and of grants:
// the candidate's entry points do not answer them.
type shadowedLog struct {
	candidate *shadow.Shadow
	// log is nil if no verdict is recorded.
	log resources.DecisionLog
}

// Record implements resources.DecisionLog.
func (l shadowedLog) Record(ctx context.Context, judgements ...*resources.Judgement) error {
	if l.log != nil {
		if err := l.log.Record(ctx, judgements...); err != nil {
			return err
		}
	}
	for _, one := range judgements {
		if (one.Path == resources.PathDecision || one.Path == resources.PathAccess) && !one.Unasked {
			l.candidate.Offer(one.ID, one.Path == resources.PathAccess, &one.Question, one.Decision)
		}
	}
	return nil
}
