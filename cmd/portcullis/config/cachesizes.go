package config

import (
	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
)

const (
	// defaultFacts is how many facts of each kind are cached.
	defaultFacts = 100_000
	// mostCached bounds each cache: more entries take gigabytes, and are a mistake.
	mostCached = 1 << 24
)

// Caches says how many entries each cache in memory has at most. A smaller one costs time
// and nothing else.
type Caches struct{ Verdicts, Tokens, Facts int }

func (c *Caches) flags(f *pflag.FlagSet) {
	f.IntVar(&c.Verdicts, "cached-verdicts", engine.DefaultVerdicts, "how many verdicts are cached for equal questions, 300 bytes each; with 0 the policy evaluates each question")
	f.IntVar(&c.Tokens, "cached-tokens", authn.DefaultCachedTokens, "how many verified tokens are cached, about 1 KiB each; with 0 each signature is checked again")
	f.IntVar(&c.Facts, "cached-facts", defaultFacts, "how many facts of each kind (users with their assignments, projects, subjects of tokens) are cached")
}

// Validate returns a problem for each size of a cache that is out of bounds.
func (c Caches) Validate() (problems []resources.Problem) {
	for _, one := range []struct {
		flag        string
		is, atLeast int
	}{{"--cached-verdicts", c.Verdicts, 0}, {"--cached-tokens", c.Tokens, 0}, {"--cached-facts", c.Facts, 1}} {
		if one.is < one.atLeast || one.is > mostCached {
			problems = append(problems, problem(one.flag, "must be from %d to %d, not %d", one.atLeast, mostCached, one.is))
		}
	}
	return problems
}
