// Package proxies runs real proxies with the configurations of gateway/doors/examples: what is allowed
// arrives with what the gateway says of its caller, and nothing else arrives.
package proxies
