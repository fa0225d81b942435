// Package gateway is the edge: a fiber server. It frames a request, finds its route in the action
// catalogue, authenticates the caller and has policy judge the call. Then a door answers it (E3), a
// handler in this process, or an upstream.
//
// An inner edge (NewInner) serves areas of resources to gateways from another process: it trusts
// only a gateway's statement of the caller.
//
// Each step bounds a sender's share by what the edge knows so far: connections by their address,
// then requests under way by their number, then requests by the rates of their caller
// (gateway/ratelimit). Rejected: headers with a request's origin.
//
// The order of refusals is the list of steps in New and nowhere else. Paths are judged as they were
// sent: the edge refuses a path if two servers could read it differently, and repairs nothing.
// Rejected: the framework's router, since it decodes and normalises a path before it matches.
package gateway
