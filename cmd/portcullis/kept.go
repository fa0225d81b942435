package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/gateway/authn"
	"github.com/portcullis-authz/portcullis/policies/engine"
)

// Bounds of what is kept in memory to be used again.
const (
	// defaultKeptFacts is how many facts of each kind are kept.
	defaultKeptFacts = 100_000
	// mostKept of anything are gigabytes: more is a mistake.
	mostKept = 1 << 24
)

// kept is how many of each are in memory at most. They cost time where they are missing,
// and nothing else.
type kept struct{ verdicts, tokens, facts int }

func (k *kept) flags(f *pflag.FlagSet) {
	f.IntVar(&k.verdicts, "kept-verdicts", engine.DefaultMemo, "how many verdicts are kept for equal questions; 0 judges each anew")
	f.IntVar(&k.tokens, "kept-tokens", authn.DefaultRemembered, "how many verified tokens are remembered; 0 checks each signature anew")
	f.IntVar(&k.facts, "kept-facts", defaultKeptFacts, "how many facts of each kind (users, projects, subjects of tokens) are kept near the decision")
}

func (k kept) check() error {
	for _, one := range []struct {
		flag           string
		value, atLeast int
	}{{"--kept-verdicts", k.verdicts, 0}, {"--kept-tokens", k.tokens, 0}, {"--kept-facts", k.facts, 1}} {
		if one.value < one.atLeast || one.value > mostKept {
			return fmt.Errorf("%s must be from %d to %d, not %d", one.flag, one.atLeast, mostKept, one.value)
		}
	}
	return nil
}

// orNone is the option of a package for which zero is its default, and less than zero none.
func orNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}
