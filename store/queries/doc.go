// Package queries reads what searches and explanations need of an account, at one revision: the facts, who holds a role, what
// is stored where, whom a change concerns. Each query takes its turn at a gate before it takes a snapshot.
//
// It knows no door and no policy: cmd fits it to the interfaces that those state.
package queries
