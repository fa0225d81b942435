// Package ratelimit bounds how often a caller may send requests: so many in a time, and so many at
// once (GCRA, a token bucket stored as one point in time).
//
// A Limiter holds one bucket for each recently seen principal, account or address, in a bounded
// table. A new bucket evicts full ones, otherwise the fullest of a sample: a caller gets no new
// bucket by having theirs evicted.
//
// Replicas share a bucket through Shared. A replica does not ask for each request: it leases tokens
// in advance, about as many as it used of late and at most a tenth of a burst or of a second's
// rate. Unused tokens are void after a second. In any time, all replicas together allow the rate of
// the time, one burst, and the leased tokens of each. A caller at half the rate is never refused
// because of other replicas' leases. Each request is counted in the process's own bucket too. A
// Shared that is down, slow or empty again costs 50 ms at most, and each replica then allows the
// whole rate.
//
// # Rejected
//
//   - golang.org/x/time/rate has no equivalent in Redis.
//   - go-redis/redis_rate cannot put its keys under a prefix.
//   - Counting in Redis after the request: each replica would allow a burst of its own.
package ratelimit
