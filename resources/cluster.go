package resources

import "strings"

// Prefixes of the ids of clusters, `cluster-<ulid>-v1` and `gpu-<ulid>-v1`, and of the claims on them.
const (
	PrefixKubernetes = "cluster"
	PrefixGPU        = "gpu"
	PrefixClaim      = "claim"
)

// ClusterState is the state of a cluster (API contract, 4). Both kinds of cluster have these
// states, and each kind writes them in its own form.
type ClusterState string

// The states of a cluster. A new cluster is pending; a deleting one exists until its
// provisioner makes it deleted.
const (
	ClusterPending      ClusterState = "PENDING"
	ClusterProvisioning ClusterState = "PROVISIONING"
	ClusterRunning      ClusterState = "RUNNING"
	ClusterError        ClusterState = "ERROR"
	ClusterDeleting     ClusterState = "DELETING"
	ClusterDeleted      ClusterState = "DELETED"
)

// KubernetesUnspecified is a status that the specification names and no cluster here has. A
// list can be filtered by it.
const KubernetesUnspecified = "CLUSTER_STATUS_UNSPECIFIED"

// ClusterStates returns all states of a cluster.
func ClusterStates() []ClusterState {
	return []ClusterState{
		ClusterPending, ClusterProvisioning, ClusterRunning, ClusterError, ClusterDeleting, ClusterDeleted,
	}
}

// Kubernetes returns the state as the status of a Kubernetes cluster.
func (s ClusterState) Kubernetes() string { return "CLUSTER_STATUS_" + string(s) }

// GPU returns the state as the status of a GPU cluster.
func (s ClusterState) GPU() string { return strings.ToLower(string(s)) }

// ClusterStateOf returns the state that a kind of cluster writes as this status. The zero state is none.
func ClusterStateOf(write func(ClusterState) string, status string) ClusterState {
	for _, s := range ClusterStates() {
		if write(s) == status {
			return s
		}
	}
	return ""
}

// Intents of a claim: what a provisioner has to do for a cluster.
const (
	IntentProvision = "provision"
	IntentDelete    = "delete"
)

// Intent returns what a provisioner has to do for a cluster in the state, "" for nothing.
func (s ClusterState) Intent() string {
	switch s {
	case ClusterPending, ClusterProvisioning:
		return IntentProvision
	case ClusterDeleting:
		return IntentDelete
	case ClusterRunning, ClusterError, ClusterDeleted:
	}
	return ""
}

// ClusterTask is how far provisioners are with the intent of a cluster's state. The zero value is
// an intent that nobody has claimed.
type ClusterTask struct {
	// ClaimID names the newest claim. Only its reports are taken.
	ClaimID string `json:"claim_id,omitempty"`
	// Attempt counts the claims.
	Attempt int `json:"attempt,omitempty"`
	// LeaseUntil is when the newest claim ends, unless it is extended.
	LeaseUntil Time `json:"lease_until"`
}

// KubernetesCluster is a Kubernetes cluster as responses show it (specification, "Kubernetes
// cluster").
type KubernetesCluster struct {
	Base      KubernetesBase `json:"base"`
	NodeCount int            `json:"node_count"`
	// InstalledApps is never nil.
	InstalledApps []InstalledApp `json:"installed_apps"`
}

// KubernetesBase holds the identity and state of a Kubernetes cluster.
type KubernetesBase struct {
	ID        string `json:"cluster_id"`
	Name      string `json:"name"`
	Status    string `json:"status"`
	AccountID string `json:"account_id"`
	ProjectID string `json:"project_id"`
	CreatedAt Time   `json:"created_at"`
	UpdatedAt Time   `json:"updated_at"`
	// Endpoint is the address of the cluster's API, "" until it has one.
	Endpoint string `json:"cluster_endpoint"`
}

// InstalledApp is an application in a Kubernetes cluster.
type InstalledApp struct {
	Base InstalledAppBase `json:"base"`
	// Status begins with INSTALLED_APP_STATUS_.
	Status string `json:"status"`
}

// InstalledAppBase holds the ids of an installed application and where it comes from.
type InstalledAppBase struct {
	AppID          string         `json:"app_id"`
	ClusterID      string         `json:"cluster_id"`
	MarketplaceApp MarketplaceApp `json:"marketplace_app"`
}

// MarketplaceApp is an application that can be installed.
type MarketplaceApp struct {
	AppName          string `json:"app_name"`
	DisplayName      string `json:"display_name"`
	Description      string `json:"description"`
	IconURL          string `json:"icon_url"`
	DocumentationURL string `json:"documentation_url"`
}

// KubernetesPlan holds the fields of kubernetes_cluster.create that a provisioner needs and no
// response shows.
type KubernetesPlan struct {
	FlavorID string `json:"flavor_id"`
	ImageID  string `json:"image_id"`
	SSHKeyID string `json:"ssh_key_id,omitempty"`
	// Version is as the client sent it; "" leaves the choice to the provisioner.
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
	Task    ClusterTask       `json:"task"`
	// Failure is the last error that a provisioner reported, "" for none.
	Failure string `json:"failure,omitempty"`
}

// GPUCluster is a GPU cluster as responses show it (specification, "GPU cluster").
type GPUCluster struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Status    string `json:"status"`
	AccountID string `json:"account_id"`
	ProjectID string `json:"project_id"`
	CreatedAt Time   `json:"created_at"`
	UpdatedAt Time   `json:"updated_at"`
	// Metadata is a text of the provisioner, "" until it writes one.
	Metadata string `json:"metadata"`
	// Resources is never nil.
	Resources []GPUResource `json:"resources"`
}

// GPUResource is a machine or another part of a GPU cluster.
type GPUResource struct {
	ExternalID string `json:"external_id"`
	Name       string `json:"name"`
	Type       string `json:"resource_type"`
	Status     string `json:"status"`
	CreatedAt  Time   `json:"created_at"`
	PrimaryIP  string `json:"primary_ip"`
}

// GPUPlan holds the fields of gpu_cluster.create that a provisioner needs and no response
// shows.
type GPUPlan struct {
	FlavorID          string `json:"flavor_id"`
	ImageID           string `json:"image_id"`
	SSHKeyID          string `json:"ssh_key_id,omitempty"`
	GPUCount          int    `json:"gpu_count"`
	PricingTemplateID string `json:"pricing_template_id,omitempty"`
	// UserData is run by the machines at their first start. It may hold secrets, so no
	// response and no log line shows it.
	UserData         string   `json:"user_data,omitempty"`
	SecurityGroupIDs []string `json:"security_group_ids,omitempty"`
}

// GPURecord is a GPU cluster as it is stored.
type GPURecord struct {
	Cluster GPUCluster  `json:"cluster"`
	Plan    GPUPlan     `json:"plan"`
	Task    ClusterTask `json:"task"`
	// Failure is the last error that a provisioner reported, "" for none.
	Failure string `json:"failure,omitempty"`
}
