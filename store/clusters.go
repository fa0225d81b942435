package store

import "github.com/portcullis-authz/portcullis/resources"

// clusterSchema is what both kinds of cluster share: the names that are taken in a
// project, its clusters newest first, and those of one status. A deleted cluster is kept
// under its status alone: its name is free, and its project is empty of it.
func clusterSchema(name string) Schema {
	return Schema{
		Name:    name,
		Columns: append(text("account", "project", "place", "name", "status"), createdColumn()),
		Indexes: []Index{
			{Name: ByName, Columns: []string{"account", "place", "name"}, Unique: true},
			{Name: ByProject, Columns: []string{"account", "place", "created"}, Descending: true},
			{Name: ByStatus, Columns: []string{"account", "project", "status", "created"}, Descending: true},
		},
	}
}

func kubernetesClusters() Collection[resources.KubernetesRecord] {
	return NewCollection(clusterSchema("kubernetes_clusters"),
		func(r *resources.KubernetesRecord) string { return r.Cluster.Base.ID },
		func(r *resources.KubernetesRecord) []Value {
			c, place := r.Cluster.Base, r.Cluster.Base.ProjectID
			if c.Status == resources.ClusterDeleted.Kubernetes() {
				place = ""
			}
			return []Value{
				String(c.AccountID), String(c.ProjectID), OptionalString(place), String(c.Name), String(c.Status), created(c.CreatedAt),
			}
		})
}

func gpuClusters() Collection[resources.GPURecord] {
	return NewCollection(clusterSchema("gpu_clusters"),
		func(r *resources.GPURecord) string { return r.Cluster.ID },
		func(r *resources.GPURecord) []Value {
			c, place := r.Cluster, r.Cluster.ProjectID
			if c.Status == resources.ClusterDeleted.GPU() {
				place = ""
			}
			return []Value{
				String(c.AccountID), String(c.ProjectID), OptionalString(place), String(c.Name), String(c.Status), created(c.CreatedAt),
			}
		})
}
