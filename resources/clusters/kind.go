package clusters

import (
	"context"
	"errors"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// kind is one of the two kinds of cluster, and what they differ in; what is done with
// clusters is the same for both.
type kind[T any] struct {
	s       *Service
	records store.Collection[T]
	// noun is how an error calls one.
	noun string
	// listRoute names the list in its page tokens; listMessage is said beside it.
	listRoute, listMessage string
	// status writes a state as this kind does; filters are the statuses to list by.
	status  func(resources.ClusterState) string
	filters []string
	// head is where the record keeps what both kinds have; shown is the record as it is
	// answered.
	head  func(*T) head
	shown func(T) any
}

// head is what both kinds of cluster have, in its place in a record.
type head struct {
	place     place
	status    *string
	updatedAt *resources.Time
}

func (s *Service) kubernetesKind() kind[resources.KubernetesRecord] {
	return kind[resources.KubernetesRecord]{
		s: s, records: s.c.KubernetesClusters, noun: "Kubernetes cluster", listRoute: "kubernetes_cluster.list",
		status:  resources.ClusterState.Kubernetes,
		filters: append(statuses(resources.ClusterState.Kubernetes), resources.KubernetesUnspecified),
		head: func(r *resources.KubernetesRecord) head {
			b := &r.Cluster.Base
			return head{place{b.AccountID, b.ProjectID}, &b.Status, &b.UpdatedAt}
		},
		shown: func(r resources.KubernetesRecord) any { return r.Cluster },
	}
}

func (s *Service) gpuKind() kind[resources.GPURecord] {
	return kind[resources.GPURecord]{
		s: s, records: s.c.GPUClusters, noun: "GPU cluster",
		listRoute: "gpu_cluster.list", listMessage: "The GPU clusters of the project, newest first.",
		status: resources.ClusterState.GPU, filters: statuses(resources.ClusterState.GPU),
		head: func(r *resources.GPURecord) head {
			c := &r.Cluster
			return head{place{c.AccountID, c.ProjectID}, &c.Status, &c.UpdatedAt}
		},
		shown: func(r resources.GPURecord) any { return r.Cluster },
	}
}

// statuses are all states as a kind of cluster writes them.
func statuses(write func(resources.ClusterState) string) []string {
	var out []string
	for _, state := range resources.ClusterStates() {
		out = append(out, write(state))
	}
	return out
}

// add stores a new cluster: 409 for a name that another one of the kind has in the
// project, 503 while the project is being deleted.
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

// find reads the cluster in the path; one of another place is answered like none.
func (k kind[T]) find(ctx context.Context, tx store.Tx, r *wire.Request) (store.Record[T], error) {
	rec, err := k.records.Get(ctx, tx, r.Params["id"])
	if errors.Is(err, store.ErrNotFound) || err == nil && k.head(&rec.Value).place != placeOf(r) {
		return store.Record[T]{}, resources.NotFound(k.noun)
	}
	return rec, err
}

// ending says whether a cluster is being deleted, or is.
func (k kind[T]) ending(status string) bool {
	return slices.Contains([]string{k.status(resources.ClusterDeleting), k.status(resources.ClusterDeleted)}, status)
}
