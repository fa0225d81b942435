// Package ratelimit bounds how often a caller may send requests: so many in a time, and so many
// at once (GCRA, a token bucket that is stored as one point in time).
//
// A Limiter holds one bucket for each principal, account or address that it has seen lately, in a
// bounded table. A new bucket evicts full ones, or else the fullest of a sample, so that no caller
// gets a fresh bucket by having theirs evicted.
//
// Replicas share a bucket through Shared. A replica does not ask for each request: it leases
// tokens in advance, about as many as it used of late and at most a tenth of a burst or of a
// second's rate. Tokens that it does not use within a second are void. In any time, all replicas
// together allow the rate of that time, one burst, and the tokens that each may have leased; a
// caller at half the rate is never refused for what other replicas have leased. Each request is
// counted in the process's own bucket too: a Shared that is down, slow or has lost its buckets
// costs 50 ms at most and leaves each replica with the whole rate.
//
// # Rejected
//
//   - golang.org/x/time/rate has no equivalent in Redis.
//   - go-redis/redis_rate cannot put its keys under a prefix.
//   - Counting in Redis after the request: a burst that is spread over the replicas would be
//     allowed once by each.
package ratelimit
