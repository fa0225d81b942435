package records

import (
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// clusterSchema is the schema of both kinds of cluster. Its indexes find a name in a project, the
// project's clusters newest first, the account's by project, and those of one status. A deleted cluster stays in the index of the
// status alone: its name is free, and its project does not contain it.
func clusterSchema(name string) store.Schema {
	return store.Schema{
		Name:    name,
		Columns: append(text("account", "project", "place", "name", "status"), createdColumn()),
		Indexes: []store.Index{
			{Name: ByName, Columns: []string{"account", "place", "name"}, Unique: true},
			{Name: ByProject, Columns: []string{"account", "place", "created"}, Descending: true},
			{Name: ByPlace, Columns: []string{"account", "place"}},
			{Name: ByStatus, Columns: []string{"account", "project", "status", "created"}, Descending: true},
		},
	}
}

func kubernetesClusters() store.Collection[resources.KubernetesRecord] {
	return store.NewCollection(clusterSchema("kubernetes_clusters"),
		func(r *resources.KubernetesRecord) string { return r.Cluster.Base.ID },
		func(r *resources.KubernetesRecord) []store.Value {
			c, place := r.Cluster.Base, r.Cluster.Base.ProjectID
			if c.Status == resources.ClusterDeleted.Kubernetes() {
				place = ""
			}
			return []store.Value{store.String(c.AccountID), store.String(c.ProjectID), store.OptionalString(place), store.String(c.Name), store.String(c.Status), created(c.CreatedAt)}
		})
}

func gpuClusters() store.Collection[resources.GPURecord] {
	return store.NewCollection(clusterSchema("gpu_clusters"),
		func(r *resources.GPURecord) string { return r.Cluster.ID },
		func(r *resources.GPURecord) []store.Value {
			c, place := r.Cluster, r.Cluster.ProjectID
			if c.Status == resources.ClusterDeleted.GPU() {
				place = ""
			}
			return []store.Value{store.String(c.AccountID), store.String(c.ProjectID), store.OptionalString(place), store.String(c.Name), store.String(c.Status), created(c.CreatedAt)}
		})
}
