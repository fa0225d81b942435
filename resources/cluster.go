package resources

import "strings"

// Prefixes of the ids of clusters: `cluster-<ulid>-v1` and `gpu-<ulid>-v1`.
const (
	PrefixKubernetes = "cluster"
	PrefixGPU        = "gpu"
)

// ClusterState is where a cluster stands (API contract, 4). Both kinds of cluster have
// these states, and each writes them in its own way.
type ClusterState string

// The states of a cluster. A new one is pending; one that is being deleted goes on
// existing until whoever provisions clusters makes it deleted.
const (
	ClusterPending      ClusterState = "PENDING"
	ClusterProvisioning ClusterState = "PROVISIONING"
	ClusterRunning      ClusterState = "RUNNING"
	ClusterError        ClusterState = "ERROR"
	ClusterDeleting     ClusterState = "DELETING"
	ClusterDeleted      ClusterState = "DELETED"
)

// KubernetesUnspecified is the status that the specification names; no cluster here has
// it, and a list may be filtered by it.
const KubernetesUnspecified = "CLUSTER_STATUS_UNSPECIFIED"

// ClusterStates are all of them.
func ClusterStates() []ClusterState {
	return []ClusterState{
		ClusterPending, ClusterProvisioning, ClusterRunning, ClusterError, ClusterDeleting, ClusterDeleted,
	}
}

// Kubernetes is the state as a Kubernetes cluster's status.
func (s ClusterState) Kubernetes() string { return "CLUSTER_STATUS_" + string(s) }

// GPU is the state as a GPU cluster's status.
func (s ClusterState) GPU() string { return strings.ToLower(string(s)) }

// KubernetesCluster is a cluster as it is shown (specification, "Kubernetes cluster").
type KubernetesCluster struct {
	Base      KubernetesBase `json:"base"`
	NodeCount int            `json:"node_count"`
	// InstalledApps is never nil.
	InstalledApps []InstalledApp `json:"installed_apps"`
}

// KubernetesBase is what every Kubernetes cluster has.
type KubernetesBase struct {
	ID        string `json:"cluster_id"`
	Name      string `json:"name"`
	Status    string `json:"status"`
	AccountID string `json:"account_id"`
	ProjectID string `json:"project_id"`
	CreatedAt Time   `json:"created_at"`
	UpdatedAt Time   `json:"updated_at"`
	// Endpoint is the address of the cluster's API; "" until it has one.
	Endpoint string `json:"cluster_endpoint"`
}

// InstalledApp is an application in a Kubernetes cluster.
type InstalledApp struct {
	Base InstalledAppBase `json:"base"`
	// Status is INSTALLED_APP_STATUS_ and a word.
	Status string `json:"status"`
}

// InstalledAppBase names an installed application and what it was installed from.
type InstalledAppBase struct {
	AppID          string         `json:"app_id"`
	ClusterID      string         `json:"cluster_id"`
	MarketplaceApp MarketplaceApp `json:"marketplace_app"`
}

// MarketplaceApp describes an application that can be installed.
type MarketplaceApp struct {
	AppName          string `json:"app_name"`
	DisplayName      string `json:"display_name"`
	Description      string `json:"description"`
	IconURL          string `json:"icon_url"`
	DocumentationURL string `json:"documentation_url"`
}

// KubernetesPlan is what kubernetes_cluster.create asked for and no answer shows: a provisioner needs it.
type KubernetesPlan struct {
	FlavorID string `json:"flavor_id"`
	ImageID  string `json:"image_id"`
	SSHKeyID string `json:"ssh_key_id,omitempty"`
	// Version is as it was sent; "" leaves it to the provisioner.
	Version string `json:"k8s_version,omitempty"`
	// PodCIDR and ServiceCIDR are disjoint networks of one address family.
	PodCIDR      string `json:"pod_cidr"`
	ServiceCIDR  string `json:"service_cidr"`
	CNIPlugin    string `json:"cni_plugin"`
	ClusterAgent bool   `json:"cluster_agent_enabled"`
}

// KubernetesRecord is a Kubernetes cluster as it is stored.
type KubernetesRecord struct {
	Cluster KubernetesCluster `json:"cluster"`
	Plan    KubernetesPlan    `json:"plan"`
}

// GPUCluster is a cluster as it is shown (specification, "GPU cluster").
type GPUCluster struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Status    string `json:"status"`
	AccountID string `json:"account_id"`
	ProjectID string `json:"project_id"`
	CreatedAt Time   `json:"created_at"`
	UpdatedAt Time   `json:"updated_at"`
	// Metadata is the provisioner's own text; "" until it has any.
	Metadata string `json:"metadata"`
	// Resources is never nil.
	Resources []GPUResource `json:"resources"`
}

// GPUResource is a machine, or another part, that a GPU cluster is made of.
type GPUResource struct {
	ExternalID string `json:"external_id"`
	Name       string `json:"name"`
	Type       string `json:"resource_type"`
	Status     string `json:"status"`
	CreatedAt  Time   `json:"created_at"`
	PrimaryIP  string `json:"primary_ip"`
}

// GPUPlan is what gpu_cluster.create asked for and no answer shows: a provisioner needs it.
type GPUPlan struct {
	FlavorID          string `json:"flavor_id"`
	ImageID           string `json:"image_id"`
	SSHKeyID          string `json:"ssh_key_id,omitempty"`
	GPUCount          int    `json:"gpu_count"`
	PricingTemplateID string `json:"pricing_template_id,omitempty"`
	// UserData is what the machines run at their first start. It may hold secrets: it is
	// in no answer and no log.
	UserData         string   `json:"user_data,omitempty"`
	SecurityGroupIDs []string `json:"security_group_ids,omitempty"`
}

// GPURecord is a GPU cluster as it is stored.
type GPURecord struct {
	Cluster GPUCluster `json:"cluster"`
	Plan    GPUPlan    `json:"plan"`
}
