// Package consistency shows that a change which was answered is in force on every replica:
// clients change and ask at random on several gateways over a real MongoDB and a real
// Redis, both with faults, and what they were told is held against a sequential model.
//
// Every right under test is a register of one bit that one client writes at a time. A
// question may be answered with the last value whose change was answered before it was
// sent, or with one whose change was under way (a regular register); questions that ask for
// strict consistency are linearizable besides, which porcupine judges. That the test can
// fail is shown by mutants of the program: each lacks one condition of the protocol, and
// has to be caught. They are made at build time by replacing a few lines (go build
// -overlay), so that no unsafe variant stands in the program's source. Rejected: checking
// in the clients as they go, which sees less than all orders, and a fake store, which
// proves nothing of the real one.
//
// The soak (soak_test.go) has the same clients and the same model, and beside them clients
// that are bad on purpose and restarts, also on the embedded store: what is looked at besides
// is what the gateways hold of their machine at rest.
package consistency
