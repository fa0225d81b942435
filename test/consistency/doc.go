// Package consistency tests that an answered change is in force on every replica. Clients change rights and ask
// questions at random, on several gateways with a real MongoDB and a real Redis, under faults of both. A sequential
// model judges the history of their answers.
//
// Every right under test is a register of one bit, with one writer at a time. The answer to a question must be the last
// value answered before the question was sent, or the value of a change under way meanwhile (a regular register).
// Questions with strict consistency must also be linearizable; porcupine judges them.
//
// Mutants of the program show that the test can fail: each lacks one condition of the protocol, and a scenario must
// catch it. The builder makes them by replacing a few lines (go build -overlay), so that the program's source has no
// unsafe variant.
//
// The soak (soak_test.go) adds malicious clients and restarts, also on the embedded store. It also checks that memory,
// goroutines and descriptors of the gateways return to their level.
//
// Rejected: checks by the clients during the run, since they see only some of the orders, and a fake store, since it
// proves nothing about the real one.
package consistency
