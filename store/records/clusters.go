package records

import (
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// clusterSchema returns the schema of both kinds of cluster. Its indexes find a name in a project, the
// project's clusters newest first, the account's by project, those of one status, those of an intent by
// account and age, and those of an intent whose lease ends first. A deleted cluster stays in the index
// of the status alone: its name is free, and its project does not contain it.
func clusterSchema(name string) store.Schema {
	return store.Schema{
		Name: name,
		Columns: append(text("account", "project", "place", "name", "status", "intent"),
			createdColumn(), store.Column{Name: "lease", Kind: store.KindInt}),
		Indexes: []store.Index{
			{Name: ByName, Columns: []string{"account", "place", "name"}, Unique: true},
			{Name: ByProject, Columns: []string{"account", "place", "created"}, Descending: true},
			{Name: ByPlace, Columns: []string{"account", "place"}},
			{Name: ByStatus, Columns: []string{"account", "project", "status", "created"}, Descending: true},
			{Name: ByIntent, Columns: []string{"intent", "account", "created", "lease"}},
			{Name: ByLease, Columns: []string{"intent", "lease"}},
		},
	}
}

// clusterColumns are the columns of a cluster. Its kind writes a state as words does.
type clusterColumns struct {
	account, project, name, status string
	created                        resources.Time
	task                           resources.ClusterTask
	words                          func(resources.ClusterState) string
}

// values returns the columns of a cluster. A deleted one is at no place, and its name is free.
func (c clusterColumns) values() []store.Value {
	place, state := c.project, resources.ClusterStateOf(c.words, c.status)
	if state == resources.ClusterDeleted {
		place = ""
	}
	return []store.Value{
		store.String(c.account), store.String(c.project), store.OptionalString(place), store.String(c.name), store.String(c.status),
		store.OptionalString(state.Intent()), created(c.created), created(c.task.LeaseUntil),
	}
}

func kubernetesClusters() store.Collection[resources.KubernetesRecord] {
	return store.NewCollection(clusterSchema("kubernetes_clusters"),
		func(r *resources.KubernetesRecord) string { return r.Cluster.Base.ID },
		func(r *resources.KubernetesRecord) []store.Value {
			b := r.Cluster.Base
			return clusterColumns{b.AccountID, b.ProjectID, b.Name, b.Status, b.CreatedAt, r.Task, resources.ClusterState.Kubernetes}.values()
		})
}

func gpuClusters() store.Collection[resources.GPURecord] {
	return store.NewCollection(clusterSchema("gpu_clusters"),
		func(r *resources.GPURecord) string { return r.Cluster.ID },
		func(r *resources.GPURecord) []store.Value {
			c := r.Cluster
			return clusterColumns{c.AccountID, c.ProjectID, c.Name, c.Status, c.CreatedAt, r.Task, resources.ClusterState.GPU}.values()
		})
}

// ClusterClaim is a provisioner's claim on a cluster. It stays for a time after its end, to recognize a repeated
// report.
type ClusterClaim struct {
	ID string `json:"id"`
	// Kind is kubernetes or gpu.
	Kind      string `json:"kind"`
	ClusterID string `json:"cluster_id"`
	// Subject is the claiming service's.
	Subject string `json:"subject"`
	// Report is a hash of the last accepted report, "" before the first one.
	Report     string         `json:"report,omitempty"`
	LeaseUntil resources.Time `json:"lease_until"`
}

func clusterClaims() store.Collection[ClusterClaim] {
	return store.NewCollection(store.Schema{
		Name:    "cluster_claims",
		Columns: []store.Column{{Name: "lease", Kind: store.KindInt}},
		Indexes: []store.Index{{Name: ByExpiry, Columns: []string{"lease"}}},
	}, func(c *ClusterClaim) string { return c.ID }, func(c *ClusterClaim) []store.Value {
		return []store.Value{created(c.LeaseUntil)}
	})
}

// ClusterTurn is the account of the last claimed cluster: accounts take turns. Every claim writes it, so two claims at
// once conflict.
type ClusterTurn struct {
	// ID is ClusterTurnID: there is one turn.
	ID        string `json:"id"`
	AccountID string `json:"account_id"`
}

// ClusterTurnID is the key of the one ClusterTurn.
const ClusterTurnID = "turn"

func clusterTurns() store.Collection[ClusterTurn] {
	return store.NewCollection(store.Schema{Name: "cluster_turns"}, func(t *ClusterTurn) string { return t.ID }, func(*ClusterTurn) []store.Value { return nil })
}
