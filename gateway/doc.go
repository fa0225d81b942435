// Package gateway is the edge: a fiber server that frames a request, finds its route in the action
// catalogue, learns who calls, has policy judge the call, and then has a door answer it (E3), calls
// a handler in this process or passes the call to an upstream.
//
// An inner edge (NewInner) serves areas of resources to gateways from another process: it takes
// nobody's word for who calls but a gateway's.
//
// Each step bounds what one sender can take, by what is known of them there: connections by their
// address, then requests under way by their number, then requests by the rates of their caller
// (gateway/ratelimit). Rejected: headers that say where a request comes from.
//
// The order of refusals is the list of steps in New and nowhere else. Paths are judged as they were
// sent: the edge refuses what two servers could read differently, and repairs nothing. Rejected:
// the framework's router, which decodes and normalises a path before it matches.
package gateway
