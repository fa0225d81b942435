package clusters

import (
	"context"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// Bounds of a claim (API contract, N19).
const (
	maxClaims    = 20
	maxWait      = 30
	minLease     = 30
	maxLease     = 600
	defaultLease = 60
)

const (
	// claimKept is how long a claim is known after its end.
	claimKept = 7 * 24 * time.Hour
	// maxForgotten bounds the old claims that a new one deletes.
	maxForgotten = 2 * maxClaims
)

// claimInput is what a provisioner asks for.
type claimInput struct {
	kinds []string
	max   int
	wait  time.Duration
	lease resources.Time
}

// claimBody is a claim as its provisioner sees it.
type claimBody struct {
	ID         string         `json:"claim_id"`
	Kind       string         `json:"kind"`
	Intent     string         `json:"intent"`
	Cluster    any            `json:"cluster"`
	Spec       any            `json:"spec"`
	Attempt    int            `json:"attempt"`
	LeaseUntil resources.Time `json:"lease_until"`
}

// claimList is the response of cluster_claim.create.
type claimList struct {
	Claims []claimBody `json:"claims"`
}

// claim answers cluster_claim.create (N19). It begins a transaction only after a look found a cluster to claim: waiting
// provisioners hold up no change.
func (s *Service) claim(ctx context.Context, r *wire.Request) (wire.Response, error) {
	input, err := readClaim(r)
	if err != nil {
		return wire.Response{}, err
	}
	ok := false
	err = s.Store.View(ctx, func(tx store.Tx) error {
		turn, err := s.turn(ctx, tx)
		if err != nil {
			return err
		}
		free, err := s.next(ctx, tx, input.kinds, turn.Value.AccountID)
		ok = free != nil
		return err
	})
	if err != nil {
		return wire.Response{}, err
	}
	out := claimList{Claims: []claimBody{}}
	if ok {
		out.Claims, err = s.claimOneByOne(ctx, r, input)
	}
	if err != nil {
		return wire.Response{}, err
	}
	answer, err := wire.OK(out)
	if len(out.Claims) == 0 {
		answer.Wait = input.wait
	}
	return answer, err
}

// claimOneByOne claims after the other claims of this process.
func (s *Service) claimOneByOne(ctx context.Context, r *wire.Request, input claimInput) (out []claimBody, err error) {
	select {
	case s.claims <- struct{}{}:
		defer func() { <-s.claims }()
	case <-ctx.Done():
		return nil, resources.Unavailable("Too many provisioners claim at once; try again.", ctx.Err())
	}
	err = s.Store.Transact(ctx, func(tx store.Tx) (err error) {
		if err = s.checkCaller(ctx, tx, r); err == nil {
			out, err = s.claimAll(ctx, tx, input, r.Principal.ID)
		}
		return err
	})
	return out, err
}

// readClaim reads the body of cluster_claim.create; 400 with all problems.
func readClaim(r *wire.Request) (claimInput, error) {
	var p wire.Problems
	r.ParseQuery(&p).Done()
	input := claimInput{kinds: []string{kindKubernetes, kindGPU}}
	body := r.ParseObject(&p)
	if body.Has("kinds") {
		input.kinds = readKinds(body)
	}
	input.max = int(readBetween(body, "max", 1, 1, maxClaims))
	input.wait = time.Duration(readBetween(body, "wait_seconds", 0, 0, maxWait)) * time.Second
	input.lease = resources.Time(readBetween(body, "lease_seconds", defaultLease, minLease, maxLease) * 1000)
	body.Done()
	return input, p.Err()
}

// readKinds reads different kinds of cluster, one at least.
func readKinds(body *wire.Object) (kinds []string) {
	texts, ok := body.Texts("kinds", 2)
	if !ok {
		return nil
	}
	if len(texts) == 0 {
		body.Add("kinds", "must name kubernetes or gpu, or be left out for both")
	}
	for _, text := range texts {
		if text != kindKubernetes && text != kindGPU || len(kinds) == 1 && kinds[0] == text {
			body.Add("kinds", "must be kubernetes, gpu or both, each once")
			return kinds
		}
		kinds = append(kinds, text)
	}
	return kinds
}

// readBetween reads a whole number from least to most, fallback where it is absent.
func readBetween(body *wire.Object, field string, fallback, least, most int64) int64 {
	n, ok := body.Int(field)
	switch {
	case !ok:
		return fallback
	case n < least || n > most:
		body.Add(field, "must be a whole number from %d to %d", least, most)
		return fallback
	}
	return n
}

// turn returns whose turn was last. Revision 0 is a turn that is not stored yet.
func (s *Service) turn(ctx context.Context, tx store.Tx) (store.Record[records.ClusterTurn], error) {
	rec, err := store.Lookup(s.c.ClusterTurns.Get(ctx, tx, records.ClusterTurnID))
	if err != nil || rec == nil {
		return store.Record[records.ClusterTurn]{Value: records.ClusterTurn{ID: records.ClusterTurnID}}, err
	}
	return *rec, nil
}

// claimAll claims as many clusters as there are and as were asked for, of one account after the other.
func (s *Service) claimAll(ctx context.Context, tx store.Tx, input claimInput, subject string) ([]claimBody, error) {
	turn, err := s.turn(ctx, tx)
	if err != nil {
		return nil, err
	}
	out := []claimBody{}
	for len(out) < input.max {
		free, err := s.next(ctx, tx, input.kinds, turn.Value.AccountID)
		if err != nil {
			return nil, err
		}
		if free == nil {
			break
		}
		one, err := s.take(ctx, tx, *free, subject, s.now()+input.lease)
		if err != nil {
			return nil, err
		}
		turn.Value.AccountID = free.account
		out = append(out, one)
	}
	if len(out) == 0 {
		return out, nil
	}
	if err := s.forgetClaims(ctx, tx); err != nil {
		return nil, err
	}
	if turn.Revision == 0 {
		return out, s.c.ClusterTurns.Insert(ctx, tx, turn.Value)
	}
	return out, s.c.ClusterTurns.Replace(ctx, tx, turn)
}

// take claims a free cluster.
func (s *Service) take(ctx context.Context, tx store.Tx, free task, subject string, until resources.Time) (claimBody, error) {
	claim := records.ClusterClaim{
		ID: s.IDs.New(resources.PrefixClaim), Kind: free.kind, ClusterID: free.cluster, Subject: subject, LeaseUntil: until,
	}
	if err := s.c.ClusterClaims.Insert(ctx, tx, claim); err != nil {
		return claimBody{}, err
	}
	return s.kinds[free.kind].take(ctx, tx, claim)
}

// forgetClaims deletes claims that ended long ago, at most maxForgotten.
func (s *Service) forgetClaims(ctx context.Context, tx store.Tx) error {
	before := s.now() - resources.Time(claimKept.Milliseconds())
	old, err := s.c.ClusterClaims.Find(ctx, tx, store.Query{Index: records.ByExpiry, Limit: maxForgotten})
	if err != nil {
		return err
	}
	for _, rec := range old {
		if rec.Value.LeaseUntil > before {
			break
		}
		if err := s.c.ClusterClaims.Delete(ctx, tx, rec); err != nil {
			return err
		}
	}
	return nil
}
