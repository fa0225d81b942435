package clusters

import (
	"context"
	"regexp"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// maxNodes bounds the nodes of a Kubernetes cluster (API contract, E16).
const maxNodes = 1000

// The network plugins. Cilium is the default, since it enforces network policies.
const (
	cniCilium  = "cilium"
	cniCalico  = "calico"
	cniFlannel = "flannel"
)

// version is the form of a Kubernetes version: v?1.MINOR(.PATCH)? without leading zeros.
var version = regexp.MustCompile(`^v?1\.(0|[1-9][0-9]{0,2})(\.(0|[1-9][0-9]{0,2}))?$`)

// createKubernetes answers kubernetes_cluster.create (E16).
func (s *Service) createKubernetes(_ context.Context, r *wire.Request) (idempotency.Commit, error) {
	record, err := readKubernetes(r)
	if err != nil {
		return nil, err
	}
	base := &record.Cluster.Base
	base.ID, base.CreatedAt = s.IDs.New(resources.PrefixKubernetes), s.now()
	base.UpdatedAt = base.CreatedAt
	return func(ctx context.Context, tx store.Tx) (wire.Response, error) {
		if err := s.checkCaller(ctx, tx, r); err != nil {
			return wire.Response{}, err
		}
		if err := s.kubernetes.add(ctx, tx, record); err != nil {
			return wire.Response{}, err
		}
		return wire.Created(clusterBody{Cluster: record.Cluster})
	}, nil
}

// readKubernetes reads the body of kubernetes_cluster.create; 400 with all problems.
func readKubernetes(r *wire.Request) (resources.KubernetesRecord, error) {
	var p wire.Problems
	r.ParseQuery(&p).Done()
	body, place := r.ParseObject(&p), placeOf(r)
	record := resources.KubernetesRecord{
		Cluster: resources.KubernetesCluster{
			Base: resources.KubernetesBase{
				Name: readName(body, "name"), Status: resources.ClusterPending.Kubernetes(),
				AccountID: place.account, ProjectID: place.project,
			},
			NodeCount: int(readBetween(body, "node_count", 1, 1, maxNodes)), InstalledApps: []resources.InstalledApp{},
		},
		Plan: resources.KubernetesPlan{
			FlavorID: requiredID(body, "flavor_id"), ImageID: requiredID(body, "image_id"), SSHKeyID: optionalID(body, "ssh_key_id"),
			Version:   readVersion(body),
			CNIPlugin: body.OneOf("cni_plugin", cniCilium, cniCilium, cniCalico, cniFlannel),
		},
	}
	record.Plan.PodCIDR, record.Plan.ServiceCIDR = readNetworks(body)
	record.Plan.ClusterAgent, _ = body.Bool("cluster_agent_enabled")
	body.Done()
	return record, p.Err()
}

// readVersion reads a Kubernetes version, "" if it is absent.
func readVersion(body *wire.Object) string {
	text, ok := body.Text("k8s_version")
	if ok && !version.MatchString(text) {
		body.Add("k8s_version", "must be a version such as 1.31, v1.31 or 1.31.2")
	}
	return text
}
