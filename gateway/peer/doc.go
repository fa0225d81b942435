// Package peer calls other processes of the platform on behalf of callers: upstreams, and the areas
// of resources behind gateways.
//
// An upstream gets the call's path and query byte for byte, a list of harmless headers, and the
// gateway's own identity headers. It does not get the caller's credential or any other claim of an
// identity. An assertion (gateway/peer/assertion) vouches for each call.
//
// The gateway drops three kinds of headers from an upstream's answer: those of its connection,
// those the gateway sets itself, and those with a caller. An upstream cannot speak for the gateway.
//
// A process behind gateways trusts gateways only: Accept checks the assertion, and ClosingRoutes
// are the gateway's own calls.
package peer
