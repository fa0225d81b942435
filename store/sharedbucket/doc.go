// Package sharedbucket keeps the token buckets that replicas have in common, in Redis.
//
// What it holds: for each bucket the time at which it will be full, by Redis' own clock,
// under `az1:rate:` and a keyed hash of its name; gone as soon as it is full. Taking is one script, so that
// no two replicas take the same token. What happens without it: an error within 50 ms, and
// after five in a row nobody asks for a second; whoever asked has a bucket of their own
// (gateway/ratelimit). It decides on no access: what somebody else writes there can refuse
// requests or let more through than one rate, up to one for each replica, and nothing else.
package sharedbucket
