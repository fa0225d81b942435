// Package clusters is the area of Kubernetes clusters and GPU clusters.
//
// A cluster here is an order and its state. A new one is PENDING, and a provisioner, which is a program
// outside of this one, moves it to the other states (states.go). The fields of the order that no
// response but a claim shows are stored beside the cluster. Deleting a PENDING cluster makes it DELETED
// at once, since no machine was made for it. Any other cluster is DELETING, stays in lists and keeps its
// name until the provisioner has released its machines.
//
// A claim gives a provisioner a cluster for the time of a lease. The task follows from the state
// alone, and the cluster's own record names its provisioner (resources.ClusterTask): there is no queue
// that could disagree with the states. The newest claim is the one whose reports count, so that
// at most one is live whatever the clocks of the replicas say. Each claim writes whose turn it was,
// by which two claims at once conflict.
//
// Policy has allowed a request before a handler here sees it, and is not asked again: no decision
// depends on a cluster, so no change bumps a revision, and the area may run in a process whose
// store holds neither accounts nor roles. The transaction of a change checks that the caller's
// credential is still valid, where the store can tell (Config.CheckCaller).
//
// # Rejected
//
// A queue of tasks beside the clusters: it can lose one, and hold one twice. A long wait inside of the
// handler: the edge asks again (wire.Response.Wait), and the caller is authorized each time.
//
// Deleting the record at once: machines of unknown clusters would go on running, and the next
// cluster could take the name.
package clusters
