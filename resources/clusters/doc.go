// Package clusters is the area of Kubernetes clusters and GPU clusters.
//
// A cluster here is an order and its state. A new one is PENDING, and a provisioner moves it to
// the other states. The fields of the order that no response shows are stored beside the cluster.
// Deleting a PENDING cluster makes it DELETED at once, since no machine was made for it. Any other
// cluster is DELETING, stays in lists and keeps its name until the provisioner has released its
// machines.
//
// Policy has allowed a request before a handler here sees it, and is not asked again: no decision
// depends on a cluster, so no change bumps a revision, and the area may run in a process whose
// store holds neither accounts nor roles. The transaction of a change checks that the caller's
// credential is still valid, where the store can tell (Config.CheckCaller).
//
// # Rejected
//
// Deleting the record at once: machines of unknown clusters would go on running, and the next
// cluster could take the name.
package clusters
