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
	// maxGPUs bounds the GPUs of a cluster, maxUserData its user data in bytes (API
	// contract, E18).
	maxGPUs     = 512
	maxUserData = 16 << 10
	// maxGroups bounds the security groups of a cluster: each costs a look-up.
	maxGroups = 100
)

// gpuCreated is the answer of gpu_cluster.create.
type gpuCreated struct {
	Cluster resources.GPUCluster `json:"cluster"`
	Message string               `json:"message"`
	// RequestID is that of the request which made the cluster, also in a repeat's answer.
	RequestID string `json:"request_id"`
}

// createGPU reads gpu_cluster.create's request and gives what is to be committed.
func (s *Service) createGPU(ctx context.Context, r *wire.Request) (idempotency.Commit, error) {
	var p wire.Problems
	record := readGPU(r, &p)
	if p.Err() != nil {
		return nil, s.withGroups(ctx, record, &p)
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
		noteGroups(record, missing, &p)
		if err := p.Err(); err != nil {
			return wire.Response{}, err
		}
		if err := s.gpu.add(ctx, tx, record); err != nil {
			return wire.Response{}, err
		}
		return wire.Created(gpuCreated{record.Cluster, "The GPU cluster was accepted and waits to be provisioned.", r.RequestID})
	}, nil
}

// withGroups adds to the problems of a body those of the security groups that it names, so
// that all are told at once. When the store can't say, the others are told.
func (s *Service) withGroups(ctx context.Context, record resources.GPURecord, p *wire.Problems) error {
	var missing []string
	err := s.Store.View(ctx, func(tx store.Tx) (err error) {
		missing, err = s.missingGroups(ctx, tx, record)
		return err
	})
	if err == nil {
		noteGroups(record, missing, p)
	}
	return p.Err()
}

// missingGroups are the security groups that are not the project's.
func (s *Service) missingGroups(ctx context.Context, tx store.Tx, record resources.GPURecord) ([]string, error) {
	ids := record.Plan.SecurityGroupIDs
	if len(ids) == 0 {
		return nil, nil
	}
	return s.SecurityGroups.Missing(ctx, tx, record.Cluster.AccountID, record.Cluster.ProjectID, ids)
}

// noteGroups notes each missing security group by its place. An absent one and another
// project's are told in the same words.
func noteGroups(record resources.GPURecord, missing []string, p *wire.Problems) {
	for i, id := range record.Plan.SecurityGroupIDs {
		if slices.Contains(missing, id) {
			p.Add(fmt.Sprintf("security_group_ids[%d]", i), "is no security group of this project")
		}
	}
}

// readGPU reads gpu_cluster.create's body and notes all problems.
func readGPU(r *wire.Request, p *wire.Problems) resources.GPURecord {
	r.ParseQuery(p).Done()
	body, at := r.ParseObject(p), placeOf(r)
	record := resources.GPURecord{
		Cluster: resources.GPUCluster{
			Name: readName(body, "cluster_name"), Status: resources.ClusterPending.GPU(),
			AccountID: at.account, ProjectID: at.project, Resources: []resources.GPUResource{},
		},
		Plan: resources.GPUPlan{
			FlavorID: requiredID(body, "flavor_id"), ImageID: requiredID(body, "image_id"), SSHKeyID: optionalID(body, "ssh_key_id"),
			GPUCount:          readCount(body, "gpu_count", maxGPUs),
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

// readGroups reads ids that are each named once; none where one of them has no form of an
// id, or there are too many to look up.
func readGroups(body *wire.Object) []string {
	const field = "security_group_ids"
	ids, ok := body.Texts(field, maxGroups)
	if !ok {
		return nil
	}
	for i, id := range ids {
		at := fmt.Sprintf("%s[%d]", field, i)
		switch {
		case !resources.ValidID(id):
			checkID(body, at, id)
			ok = false
		case slices.Contains(ids[:i], id):
			body.Add(at, "names a security group for the second time")
		}
	}
	if !ok {
		return nil
	}
	return ids
}
