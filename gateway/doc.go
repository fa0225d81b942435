// Package gateway is the edge: a fiber server that frames a request, finds its
// route in the action catalogue, learns who calls, asks policy, and then answers
// itself (E3), calls a handler in this process or passes the request to an upstream.
//
// An inner edge (NewInner) serves areas to gateways from another process: it takes
// nobody's word for who calls but a gateway's.
//
// What one sender can take is bounded, by what is known of them at each step: connections by
// their address, then requests under way by their number, then, when it is known who calls,
// requests by their rates (gateway/ratelimit). Rejected: any header that says where a request comes from.
//
// The order of refusals is the list of steps in edge.go and nowhere else. Paths are
// judged as they were sent: what two servers could read differently is refused, and
// nothing is repaired. Rejected: the framework's router, which decodes and
// normalises before it matches.
package gateway
