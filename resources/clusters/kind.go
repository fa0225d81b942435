package clusters

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// kind is one of the two kinds of cluster. Its methods serve both; its fields hold the differences.
type kind[T any] struct {
	s       *Service
	records store.Collection[T]
	// noun names a cluster of the kind in errors.
	noun string
	// listRoute names the list in page tokens.
	listRoute string
	// listMessage is the message of a list's response.
	listMessage string
	// status returns a state in the form of this kind.
	status func(resources.ClusterState) string
	// filters holds the statuses by which lists can be filtered.
	filters []string
	// head returns the fields of a record that both kinds have.
	head func(*T) head
	// shown returns a record as responses show it, spec the request that made it.
	shown, spec func(T) any
}

// head holds the common fields of both kinds of cluster, and the provisioner's fields of one kind.
// The pointers point into the record; those of the other kind are nil.
type head struct {
	id        string
	place     clusterPlace
	status    *string
	updatedAt *resources.Time
	task      *resources.ClusterTask
	failure   *string
	endpoint  *string
	apps      *[]resources.InstalledApp
	resources *[]resources.GPUResource
}

// kubernetesKind returns the kind of Kubernetes clusters.
func (s *Service) kubernetesKind() kind[resources.KubernetesRecord] {
	return kind[resources.KubernetesRecord]{
		s: s, records: s.c.KubernetesClusters, noun: "Kubernetes cluster", listRoute: "kubernetes_cluster.list",
		status:  resources.ClusterState.Kubernetes,
		filters: append(statuses(resources.ClusterState.Kubernetes), resources.KubernetesUnspecified),
		head: func(r *resources.KubernetesRecord) head {
			b := &r.Cluster.Base
			return head{
				id: b.ID, place: clusterPlace{b.AccountID, b.ProjectID}, status: &b.Status, updatedAt: &b.UpdatedAt, task: &r.Task, failure: &r.Failure,
				endpoint: &b.Endpoint, apps: &r.Cluster.InstalledApps,
			}
		},
		shown: func(r resources.KubernetesRecord) any { return r.Cluster },
		spec: func(r resources.KubernetesRecord) any {
			return kubernetesSpec{r.Cluster.Base.Name, r.Cluster.NodeCount, r.Plan}
		},
	}
}

// gpuKind returns the kind of GPU clusters.
func (s *Service) gpuKind() kind[resources.GPURecord] {
	return kind[resources.GPURecord]{
		s: s, records: s.c.GPUClusters, noun: "GPU cluster",
		listRoute: "gpu_cluster.list", listMessage: "The GPU clusters of the project, newest first.",
		status: resources.ClusterState.GPU, filters: statuses(resources.ClusterState.GPU),
		head: func(r *resources.GPURecord) head {
			c := &r.Cluster
			return head{
				id: c.ID, place: clusterPlace{c.AccountID, c.ProjectID}, status: &c.Status, updatedAt: &c.UpdatedAt, task: &r.Task, failure: &r.Failure,
				resources: &c.Resources,
			}
		},
		shown: func(r resources.GPURecord) any { return r.Cluster },
		spec:  func(r resources.GPURecord) any { return gpuSpec{r.Cluster.Name, r.Plan} },
	}
}

// kubernetesSpec is the request of kubernetes_cluster.create, with the defaults of absent fields.
type kubernetesSpec struct {
	Name      string `json:"name"`
	NodeCount int    `json:"node_count"`
	resources.KubernetesPlan
}

// gpuSpec is the request of gpu_cluster.create, with the defaults of absent fields.
type gpuSpec struct {
	Name string `json:"cluster_name"`
	resources.GPUPlan
}

// statuses returns all states in the form of a kind.
func statuses(write func(resources.ClusterState) string) []string {
	var out []string
	for _, state := range resources.ClusterStates() {
		out = append(out, write(state))
	}
	return out
}

// add stores a new cluster; 409 for a name that another cluster of the kind in the project has, 503
// while the project is being deleted.
func (k kind[T]) add(ctx context.Context, tx store.Tx, record T) error {
	p := k.head(&record).place
	if err := k.s.c.EnterProject(ctx, tx, area, p.account, p.project, k.s.now()); err != nil {
		return err
	}
	err := k.records.Insert(ctx, tx, record)
	if store.IsDuplicate(err, records.ByName) {
		return resources.Conflict("Another %s of the project has this name.", k.noun)
	}
	return err
}

// find reads the cluster in the path; 404 if the path's project does not have it.
func (k kind[T]) find(ctx context.Context, tx store.Tx, r *wire.Request) (store.Record[T], error) {
	rec, err := k.records.Get(ctx, tx, r.Params["id"])
	if errors.Is(err, store.ErrNotFound) || err == nil && k.head(&rec.Value).place != placeOf(r) {
		return store.Record[T]{}, resources.NotFound(k.noun)
	}
	return rec, err
}

// body returns the response with one cluster and the last error of its provisioner.
func (k kind[T]) body(record T) clusterBody {
	return clusterBody{Cluster: k.shown(record), Error: *k.head(&record).failure}
}
