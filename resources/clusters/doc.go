// Package clusters is the area of Kubernetes clusters and GPU clusters.
//
// A cluster here is an order and its state. A new one is PENDING, and a provisioner, a separate program, moves it to
// the other states (states.go). Some fields of the order are shown by a claim only; they are stored beside the cluster.
// Deleting a PENDING cluster makes it DELETED at once, since no machine was made for it. Any other cluster is DELETING,
// stays in lists and keeps its name until the provisioner has released its machines.
//
// A claim gives a provisioner a cluster for the time of a lease. The task follows from the state alone, and the
// cluster's own record names its provisioner (resources.ClusterTask): no queue can disagree with the states. Only
// reports on the newest claim count: at most one claim is live, even if the replicas' clocks differ. Each claim writes
// whose turn it was, and so two claims at once conflict.
//
// Policy has allowed a request before a handler here sees it, and is not asked again: no decision depends on a cluster.
// So no change bumps a revision, and the area may run in a process whose store holds neither accounts nor roles. The
// transaction of a change checks the caller's credential again, if the store can (Config.CheckCaller).
//
// # Rejected
//
// A queue of tasks beside the clusters: it can lose one, and hold one twice. A long wait inside of the
// handler: the edge asks again (wire.Response.Wait), and the caller is authorized each time.
//
// Deleting the record at once: machines of unknown clusters would go on running, and the next
// cluster could take the name.
package clusters
