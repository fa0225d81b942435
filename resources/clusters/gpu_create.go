package clusters

import (
	"context"
	"fmt"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

const (
	// maxGPUs bounds the GPUs of a cluster (API contract, E18).
	maxGPUs = 512
	// maxUserData bounds the user data in bytes (API contract, E18).
	maxUserData = 16 << 10
	// maxGroups bounds the security groups of a cluster: each costs a look-up.
	maxGroups = 100
)

// gpuCreated is the response of gpu_cluster.create.
type gpuCreated struct {
	Cluster resources.GPUCluster `json:"cluster"`
	Message string               `json:"message"`
	// RequestID is the id of the request that made the cluster. A repeat is answered with the
	// id of the first request.
	RequestID string `json:"request_id"`
}

// createGPU answers gpu_cluster.create (E18).
func (s *Service) createGPU(ctx context.Context, r *wire.Request) (idempotency.Commit, error) {
	var p wire.Problems
	record := readGPU(r, &p)
	if p.Err() != nil {
		return nil, s.withGroupProblems(ctx, record, &p)
	}
	record.Cluster.ID, record.Cluster.CreatedAt = s.IDs.New(resources.PrefixGPU), s.now()
	record.Cluster.UpdatedAt = record.Cluster.CreatedAt
	return func(ctx context.Context, tx store.Tx) (wire.Response, error) {
		if err := s.checkCaller(ctx, tx, r); err != nil {
			return wire.Response{}, err
		}
		missing, err := s.missingGroups(ctx, tx, record)
		if err != nil {
			return wire.Response{}, err
		}
		var p wire.Problems
		addMissingGroups(record, missing, &p)
		if err := p.Err(); err != nil {
			return wire.Response{}, err
		}
		if err := s.gpu.add(ctx, tx, record); err != nil {
			return wire.Response{}, err
		}
		return wire.Created(gpuCreated{record.Cluster, "The GPU cluster was accepted and waits to be provisioned.", r.RequestID})
	}, nil
}

// withGroupProblems returns the refusal of a body with the problems p and those of its security
// groups. It leaves the latter out when the store does not answer.
func (s *Service) withGroupProblems(ctx context.Context, record resources.GPURecord, p *wire.Problems) error {
	var missing []string
	err := s.Store.View(ctx, func(tx store.Tx) (err error) {
		missing, err = s.missingGroups(ctx, tx, record)
		return err
	})
	if err == nil {
		addMissingGroups(record, missing, p)
	}
	return p.Err()
}

// missingGroups returns the security groups of the cluster that the project does not have.
func (s *Service) missingGroups(ctx context.Context, tx store.Tx, record resources.GPURecord) ([]string, error) {
	ids := record.Plan.SecurityGroupIDs
	if len(ids) == 0 {
		return nil, nil
	}
	return s.SecurityGroups.Missing(ctx, tx, record.Cluster.AccountID, record.Cluster.ProjectID, ids)
}

// addMissingGroups adds a problem for each missing security group. The text is the same for one of
// another project and one that does not exist.
func addMissingGroups(record resources.GPURecord, missing []string, p *wire.Problems) {
	for i, id := range record.Plan.SecurityGroupIDs {
		if slices.Contains(missing, id) {
			p.Add(fmt.Sprintf("security_group_ids[%d]", i), "is no security group of this project")
		}
	}
}

// readGPU reads the body of gpu_cluster.create.
func readGPU(r *wire.Request, p *wire.Problems) resources.GPURecord {
	r.ParseQuery(p).Done()
	body, place := r.ParseObject(p), placeOf(r)
	record := resources.GPURecord{
		Cluster: resources.GPUCluster{
			Name: readName(body, "cluster_name"), Status: resources.ClusterPending.GPU(),
			AccountID: place.account, ProjectID: place.project, Resources: []resources.GPUResource{},
		},
		Plan: resources.GPUPlan{
			FlavorID: requiredID(body, "flavor_id"), ImageID: requiredID(body, "image_id"), SSHKeyID: optionalID(body, "ssh_key_id"),
			GPUCount:          int(readBetween(body, "gpu_count", 1, 1, maxGPUs)),
			PricingTemplateID: optionalID(body, "pricing_template_id"),
			SecurityGroupIDs:  readGroups(body),
		},
	}
	record.Plan.UserData, _ = body.Text("user_data")
	if len(record.Plan.UserData) > maxUserData {
		body.Add("user_data", "must be at most %d bytes", maxUserData)
	}
	body.Done()
	return record
}

// readGroups reads the ids of different security groups. It returns none if one of them is
// malformed or there are too many.
func readGroups(body *wire.Object) []string {
	const field = "security_group_ids"
	ids, ok := body.Texts(field, maxGroups)
	if !ok {
		return nil
	}
	for i, id := range ids {
		place := fmt.Sprintf("%s[%d]", field, i)
		switch {
		case !resources.ValidID(id):
			checkID(body, place, id)
			ok = false
		case slices.Contains(ids[:i], id):
			body.Add(place, "names a security group for the second time")
		}
	}
	if !ok {
		return nil
	}
	return ids
}
