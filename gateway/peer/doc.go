// Package peer speaks to other processes of the platform on behalf of callers: to upstreams, to
// which allowed calls are passed, and to the areas of resources that run behind gateways.
//
// An upstream gets the call's path and query byte for byte, a list of harmless headers, and the
// identity headers that the gateway sets itself; the caller's credential and every other claim of
// an identity stay behind. An assertion (gateway/peer/assertion) vouches for each call.
//
// Of an upstream's answer the headers that belong to its connection, those that the gateway says
// itself, and those that name a caller end here: an upstream cannot speak for the gateway.
//
// A process behind gateways takes nobody's word but a gateway's: Accept checks the assertion, and
// ClosingRoutes are the calls that only the gateway itself makes.
package peer
