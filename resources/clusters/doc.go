// Package clusters is the Kubernetes clusters and the GPU clusters
// of a project, and reading and deleting one of either kind.
//
// A cluster here is an order and its state: a new one is PENDING, and a provisioner moves
// it on. What was ordered and is never shown is stored beside what is shown. A PENDING cluster
// is DELETED at once: nothing was made for it. Any other one stays DELETING, listed and with its
// name taken, until a provisioner has ended what it runs on. Rejected: removing the record at
// once, which would leave machines that nobody knows of, under a name that the next cluster could
// have.
//
// Policy has allowed a request before a handler here sees it, and is not asked again: no
// decision rests on a cluster, and the area may stand in a process whose store holds
// neither accounts nor roles. For the same reason no revision moves. That the caller's
// credential is still valid is asked in the transaction of a change (Config.CheckCaller),
// where the store knows of it.
package clusters
