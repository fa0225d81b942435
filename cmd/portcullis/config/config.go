package config

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/resources"
)

// Config holds every setting of serve, by concern. Other commands use a part of them.
type Config struct {
	// File is the configuration file, "" for none.
	File string

	Listeners   Listeners
	Health      Health
	Store       Store
	Policy      Policy
	Credentials Credentials
	Areas       Areas
	MCP         MCP
	Console     Console
	Mail        Mail
	Limits      Limits
	Rates       Rates
	Caches      Caches
	Log         Log
	Decisions   Decisions

	// Demo asks for demo data on an empty store.
	Demo bool
}

// Concern is a group of settings that belong together.
type Concern struct {
	Title string
	// AddFlags adds the flags of the concern, and sets their defaults.
	AddFlags func(*pflag.FlagSet)
}

// Concerns returns all groups of settings, in the order of the documentation.
func (c *Config) Concerns() []Concern {
	return []Concern{
		{"Configuration file", c.fileFlags},
		{"Listeners", c.Listeners.flags},
		{"Health and metrics", c.Health.flags},
		{"Store and cache", c.Store.flags},
		{"Policy", c.Policy.flags},
		{"Credentials", c.Credentials.flags},
		{"Areas and upstreams", c.Areas.flags},
		{"Credentials for MCP servers", c.MCP.flags},
		{"Console", c.Console.flags},
		{"Mail", c.Mail.flags},
		{"Timeouts and bounds", c.Limits.flags},
		{"Rates", c.Rates.flags},
		{"Caches", c.Caches.flags},
		{"Log", c.Log.flags},
		{"Decision log", c.Decisions.flags},
		{"Demo", c.demoFlags},
	}
}

func (c *Config) fileFlags(f *pflag.FlagSet) {
	f.StringVar(&c.File, "config", "", "a YAML `file` with the names of the flags as keys")
}

func (c *Config) demoFlags(f *pflag.FlagSet) {
	f.BoolVar(&c.Demo, "demo", false, "on an empty store, first make demo data; without a policy tree of yours, run an MCP server with tickets for its agent; print what listens where, how to ask, and the answers; on a terminal the log is text unless --log-format says otherwise")
}

// AddFlags adds the flags of these names, or all where none is named. Every setting of c gets
// its default.
func (c *Config) AddFlags(f *pflag.FlagSet, names ...string) {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.SortFlags = false
	for _, concern := range c.Concerns() {
		concern.AddFlags(all)
	}
	f.SortFlags = false
	all.VisitAll(func(flag *pflag.Flag) {
		if len(names) == 0 || slices.Contains(names, flag.Name) {
			f.AddFlag(flag)
		}
	})
}

// AddDataFolderFlags adds the flags of the commands that work with the data folder or the
// database beside serve.
func (c *Config) AddDataFolderFlags(f *pflag.FlagSet) {
	c.AddFlags(f, "config", "data-dir", "master-key-file", "mongo-url", "policy-dir",
		"policy-bundle", "policy-bundle-key",
		"jwks-url", "jwks-file", "jwt-issuer", "jwt-audience", "identity-provider", "invitation-ttl")
}

// Validate returns what is wrong with the settings of serve, each alone and together.
func (c *Config) Validate() []resources.Problem {
	return slices.Concat(
		c.Listeners.Validate(c.Areas.BehindGateways()), c.Health.Validate(), c.Store.Validate(), c.Policy.Validate(),
		c.Credentials.Validate(), c.Areas.Validate(), c.MCP.Validate(c.Areas), c.Mail.Validate(), c.Limits.Validate(), c.Rates.Validate(),
		c.Caches.Validate(), c.Log.Validate(), c.Decisions.Validate(), c.Console.Validate(c.Listeners), c.validateTogether(), c.validatePermissions())
}

// validateTogether returns what is wrong with settings of different concerns.
func (c *Config) validateTogether() (problems []resources.Problem) {
	if c.Policy.Timeout > c.Limits.Edge.Handle {
		problems = append(problems, problem("--policy-timeout", "must be at most --handle-timeout (%s), not %s: a request has no more time than that",
			c.Limits.Edge.Handle, c.Policy.Timeout))
	}
	if c.Store.MongoURL != "" && c.Store.Lease > c.Limits.Edge.Handle/2 {
		problems = append(problems, problem("--freshness-lease", "must be at most half of --handle-timeout (%s), not %s: the deletion of a project waits for it between its steps",
			c.Limits.Edge.Handle, c.Store.Lease))
	}
	if c.Demo && c.Credentials.Outside() {
		problems = append(problems, problem("--demo", "signs a token with the data folder's own key, which is not accepted beside an outside issuer; leave one of them out"))
	}
	if c.Demo && c.Listeners.HasTLS() {
		problems = append(problems, problem("--demo", "prints commands for plain HTTP; leave it or --tls-cert-file out"))
	}
	if c.Areas.BehindGateways() {
		if c.Listeners.ExtAuthz != "" {
			problems = append(problems, problem("--ext-authz-listen", "is for gateways; leave it out with --role resources"))
		}
		if c.Listeners.Console != "" {
			problems = append(problems, problem("--console-listen", "is for gateways; leave it out with --role resources"))
		}
		if c.Demo {
			problems = append(problems, problem("--demo", "is for gateways; leave it out with --role resources"))
		}
		if c.Store.MasterKeyFile == "" {
			problems = append(problems, problem("--role resources", "needs --master-key-file, with the gateway's key: with another one it could not check the gateway's assertions"))
		}
	}
	return problems
}

// problem returns what is wrong with a setting, and the remedy.
func problem(setting, format string, args ...any) resources.Problem {
	return resources.Problem{Field: setting, Text: fmt.Sprintf(format, args...)}
}
