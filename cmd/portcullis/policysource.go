package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/proof"
)

// openPolicy loads the tree that the settings name. The feed is nil where it is no bundle.
func openPolicy(ctx context.Context, settings *config.Config, options engine.Options, log *slog.Logger) (*engine.Engine, *bundles.Feed, error) {
	if settings.Policy.Bundle == "" {
		tree, err := policyTree(settings.Policy.Dir)
		if err != nil {
			return nil, nil, fmt.Errorf("--policy-dir: %w", err)
		}
		policy, err := engine.New(ctx, tree, proof.Load, options)
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

// bundleKey reads --policy-bundle-key, nil where there is none.
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
