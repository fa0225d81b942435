// Package ratelimit bounds how often somebody may ask: so many requests in a time, and so
// many at once (GCRA, a token bucket that is one point in time).
//
// What it holds: one bucket for each principal, account or address that was seen lately, in
// a bounded table. Where there is no room, what makes it is a bucket that is full, or else
// the fullest of a sample: nobody gets a fresh bucket by having theirs pushed out.
//
// Replicas share a bucket through Shared. None of them asks for each request: it takes
// tokens in advance, as many as were used of late and never more than a tenth of a burst or
// of a second's, and what it does not use within a second is void. So in any time all
// replicas together let through what the rate gives for that time, one burst, and what each
// may hold in advance; a caller at half their rate is never refused for what others hold.
// Every request is counted in the process's own bucket too: Shared that is down, slow or
// was made to forget costs 50 ms at most and leaves each replica with the whole rate, not
// with none.
//
// Rejected: golang.org/x/time/rate, which has no form in Redis that means the same, and
// go-redis/redis_rate, whose keys can't be put under a prefix. Charging Redis afterwards:
// a burst that is spread over the replicas would get through as often as there are replicas.
package ratelimit
