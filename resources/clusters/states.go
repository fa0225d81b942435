package clusters

import (
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
)

// The state machine of a cluster. It is pure: what a claim, a deletion and a report do with a state.
//
//	            claim                    report
//	PENDING ------------> PROVISIONING --------> RUNNING or ERROR
//	   | delete                | delete              | delete
//	   v                       v                     v
//	DELETED <------------- DELETING <----------------+
//	            report

// claimed returns the state of a cluster after a claim on it.
func claimed(s resources.ClusterState) resources.ClusterState {
	if s == resources.ClusterPending {
		return resources.ClusterProvisioning
	}
	return s
}

// deleted returns the state of a cluster after its deletion was asked for. For a PENDING cluster
// nobody has made machines.
func deleted(s resources.ClusterState) resources.ClusterState {
	switch s {
	case resources.ClusterPending, resources.ClusterDeleted:
		return resources.ClusterDeleted
	case resources.ClusterProvisioning, resources.ClusterRunning, resources.ClusterError, resources.ClusterDeleting:
	}
	return resources.ClusterDeleting
}

// reportable returns the states a report on a live claim can name: the cluster's own, without a change, and those that
// end the claim.
func reportable(s resources.ClusterState) []resources.ClusterState {
	switch s {
	case resources.ClusterProvisioning:
		return []resources.ClusterState{resources.ClusterProvisioning, resources.ClusterRunning, resources.ClusterError}
	case resources.ClusterDeleting:
		return []resources.ClusterState{resources.ClusterDeleting, resources.ClusterDeleted}
	case resources.ClusterPending, resources.ClusterRunning, resources.ClusterError, resources.ClusterDeleted:
	}
	return nil // nobody has a claim on such a cluster
}

// reported says whether a report can move a cluster from one state to another.
func reported(current, next resources.ClusterState) bool {
	return slices.Contains(reportable(current), next)
}
