package clusters

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// reportBody is the response of cluster_claim.update.
type reportBody struct {
	Cluster    any            `json:"cluster"`
	LeaseUntil resources.Time `json:"lease_until"`
}

// update answers cluster_claim.update (N20).
func (s *Service) update(ctx context.Context, r *wire.Request) (wire.Response, error) {
	input, err := readReport(r)
	if err != nil {
		return wire.Response{}, err
	}
	var out reportBody
	err = s.Store.Transact(ctx, func(tx store.Tx) error {
		if err := s.checkCaller(ctx, tx, r); err != nil {
			return err
		}
		claim, err := s.c.ClusterClaims.Get(ctx, tx, r.Params["claimId"])
		if errors.Is(err, store.ErrNotFound) {
			return resources.NotFound("claim")
		}
		if err != nil {
			return err
		}
		if err := input.fits(claim.Value.Kind); err != nil {
			return err
		}
		if claim.Value.Subject != r.Principal.ID {
			return resources.Conflict("This claim is another provisioner's.")
		}
		out, err = s.kinds[claim.Value.Kind].report(ctx, tx, claim, input)
		return err
	})
	return wire.Answer(out, err)
}

// report implements claimable. It refuses a report on an ended claim, unless it repeats the last accepted one: its
// answer may have been lost. The lease in the answer has ended then, also after a deletion.
func (k kind[T]) report(ctx context.Context, tx store.Tx, claim store.Record[records.ClusterClaim], r report) (reportBody, error) {
	rec, err := k.records.Get(ctx, tx, claim.Value.ClusterID)
	if err != nil {
		return reportBody{}, err
	}
	hash, err := r.hash()
	if err != nil {
		return reportBody{}, err
	}
	h, now := k.head(&rec.Value), k.s.now()
	if h.task.ClaimID != claim.Value.ID || h.task.LeaseUntil <= now {
		if claim.Value.Report == hash {
			return reportBody{k.shown(rec.Value), min(claim.Value.LeaseUntil, now)}, nil
		}
		return reportBody{}, resources.Conflict("This claim is over; the cluster is %s. Claim anew.", *h.status)
	}
	before, current := rec.Value, resources.ClusterStateOf(k.status, *h.status)
	next, err := k.target(current, r.Status)
	if err != nil {
		return reportBody{}, err
	}
	r.fill(h)
	if next != current {
		*h.status, *h.failure = k.status(next), r.Error
	}
	if !reflect.DeepEqual(before, rec.Value) {
		*h.updatedAt = now
	}
	switch {
	case next != current: // the claim is over
		claim.Value.LeaseUntil, *h.task = now, resources.ClusterTask{}
	case r.Extend > 0:
		claim.Value.LeaseUntil = now + resources.Time(r.Extend*1000)
		h.task.LeaseUntil = claim.Value.LeaseUntil
	}
	claim.Value.Report = hash
	if err := k.s.c.ClusterClaims.Replace(ctx, tx, claim); err != nil {
		return reportBody{}, err
	}
	return reportBody{k.shown(rec.Value), claim.Value.LeaseUntil}, k.records.Replace(ctx, tx, rec)
}

// target returns the state a report asks for; 409 with the possible ones.
func (k kind[T]) target(current resources.ClusterState, status string) (resources.ClusterState, error) {
	if status == "" {
		return current, nil
	}
	if next := resources.ClusterStateOf(k.status, status); reported(current, next) {
		return next, nil
	}
	var allowed []string
	for _, state := range reportable(current) {
		allowed = append(allowed, k.status(state))
	}
	return "", resources.Conflict("The cluster is %s, and this claim cannot make it %s; allowed are %s.",
		k.status(current), status, strings.Join(allowed, ", "))
}

// hash differs between reports.
func (r report) hash() (string, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("clusters: a report: %w", err)
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:]), nil
}

// fill writes what was reported into the cluster.
func (r report) fill(h head) {
	if r.Endpoint != nil {
		*h.endpoint = *r.Endpoint
	}
	if r.Resources != nil {
		*h.resources = *r.Resources
	}
	if r.Apps != nil {
		apps := slices.Clone(*r.Apps) // the report stays as it was sent, for its hash in another run
		for i := range apps {
			apps[i].Base.ClusterID = h.id
		}
		*h.apps = apps
	}
	if r.Error != "" {
		*h.failure = r.Error
	}
}
