// Package queries reads what searches and explanations need of an account at one revision: the facts, the holders of
// roles, the resources by project, the users of a change. Each query takes its turn at a gate before it takes a
// snapshot.
//
// It imports neither doors nor policy: cmd fits it to their interfaces.
package queries
