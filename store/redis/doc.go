// Package redis is everything of this program that speaks to Redis: the connection (Client), the
// level of the cache of facts that replicas share (Cache, which implements rolecache.Remote), and
// the token buckets that replicas share (Buckets, for gateway/ratelimit).
//
// Redis is a help and no more. Each call takes 50 ms at most and is made once. After five failures
// in a row a circuit breaker refuses all calls for a second, so that a fault of Redis costs no
// request more than a moment. Cache and Buckets have a breaker each: a server that refuses scripts
// can still hold values. A fault, a flush or a failover to an old copy costs time and never changes
// a decision: values of the cache are authenticated by rolecache, and buckets hold rates only.
//
// Every key starts with az1:, which an operator can give the program's user in Redis as its only
// keys.
//
// # Rejected
//
//   - Retries, which cost each request their time when Redis is at its slowest; go-redis makes some
//     of its own accord, see settings.
//   - Settings of the driver in the URL: most would be overruled, and some of them end the process.
package redis
