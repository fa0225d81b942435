// Package redis is this program's access to Redis. Client is the connection. Cache is the shared
// level of the cache of facts and implements rolecache.Remote. Buckets are the shared token buckets
// for gateway/ratelimit.
//
// Redis is a help and no more. Each call takes 50 ms at most and is made once. After five failures
// in a row a circuit breaker refuses all calls for a second: a fault of Redis costs no request more
// than a moment. Cache and Buckets have a breaker each, since a server without scripts can still
// hold values. A fault, a flush or a failover to an old copy costs time and never changes a
// decision: values of the cache are authenticated by rolecache, and buckets hold rates only.
//
// Every key starts with az1:, so an operator can restrict the program's Redis user to these keys.
//
// # Rejected
//
//   - Retries: they cost each request their time when Redis is at its slowest; go-redis makes some
//     of its own accord, see settings.
//   - Settings of the driver in the URL: most would be overruled, and some of them end the process.
package redis
