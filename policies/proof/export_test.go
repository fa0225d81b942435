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

// Probed names the callers whom a policy has to deny.
func Probed() (who []string) {
	for _, by := range callersWithoutRights() {
		who = append(who, by.name)
	}
	return who
}
