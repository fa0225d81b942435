package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// gatewaySettings returns the settings of callers, decisions and mail. A process behind gateways has none of these.
func gatewaySettings() []string {
	return []string{
		"users-listen", "public-url", "redis-url", "freshness-lease", "shadow-policy-dir", "shadow-sample", "deny-status",
		"jwks-url", "jwks-file", "jwt-issuer", "jwt-audience", "identity-provider", "smtp-url", "invitation-ttl", "max-evaluations",
		"rate-principal", "rate-service", "rate-account", "rate-failures", "cached-verdicts", "cached-tokens", "cached-facts",
		"decision-log", "decision-log-size", "decision-log-age", "decision-log-url",
	}
}

// withoutEffect returns a warning for each kind of settings with a value of the operator's and without an effect.
func (c *Config) withoutEffect(flags *pflag.FlagSet) (warnings []string) {
	seen := map[string]bool{}
	for _, one := range []struct {
		works    bool
		settings []string
		because  string
	}{
		{!c.Areas.BehindGateways(), gatewaySettings(), "with --role resources: give them to the gateways"},
		{c.Store.MongoURL != "", []string{"freshness-lease"}, "without --mongo-url"},
		{!c.Policy.Shipped(), []string{"accept-base"}, "without --policy-dir or --policy-bundle"},
		{c.Policy.Bundle != "", []string{"policy-bundle-poll"}, "without --policy-bundle"},
		{c.Policy.ShadowDir != "", []string{"shadow-sample"}, "without --shadow-policy-dir"},
		{c.Decisions.On(), []string{"decision-log-size", "decision-log-age"}, "with --decision-log off"},
	} {
		var names []string
		for _, name := range one.settings {
			f := flags.Lookup(name)
			if !one.works && !seen[name] && f.Changed && f.Value.String() != f.DefValue {
				names, seen[name] = append(names, "--"+name), true
			}
		}
		if len(names) > 0 {
			warnings = append(warnings, fmt.Sprintf("these settings have no effect %s: %s", one.because, strings.Join(slices.Sorted(slices.Values(names)), ", ")))
		}
	}
	return warnings
}
