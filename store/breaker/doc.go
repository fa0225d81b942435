// Package breaker leaves a server alone that is a help and no more, such as Redis, while it
// does not answer: what is asked of it is bounded in time, and after some failures in a row
// nobody asks it for a while, so that its fault costs no request more than a moment.
// Rejected: trying again, which costs each request that time more.
package breaker
