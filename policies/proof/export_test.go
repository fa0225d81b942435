package proof

import (
	"context"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
)

// ProveWithin is Prove with another bound on the tree's own tests.
func ProveWithin(ctx context.Context, src *policies.Source, limit time.Duration) error {
	_, _, err := prove(ctx, src, limit)
	return err
}

// Probed returns the names of the callers whom every policy must deny.
func Probed() (names []string) {
	for _, caller := range callersWithoutRights() {
		names = append(names, caller.name)
	}
	return names
}
