// Package harness starts the program under test for the black-box packages (test/api, test/cli, test/faults,
// test/raw), calls it, and makes accounts with their users in it. Only tests import it.
//
// Every gateway that a test starts is set up by environment variables:
//
//   - PORTCULLIS_TEST_STORE=mongodb has it on a real MongoDB without a freshness lease, and =replicas makes it
//     three processes on MongoDB and Redis behind an address that gives each request to the next one. Without
//     the variable it is one process on the embedded store.
//   - PORTCULLIS_TEST_EDGE=users has every test speak to the users' listener.
//   - PORTCULLIS_TEST_PROCESSES=two has the firewall and the clusters in a process of their own.
//
// Each answer, and each request that was granted, is held against the OpenAPI document (test/contract), and
// the tests fail where the program's output shows a credential (test/secrets).
package harness
