// Package harness starts the program under test for the black-box packages (test/api, test/cli, test/faults,
// test/raw), calls it, and makes accounts with their users in it. Only tests import it.
//
// Environment variables set up every gateway of the tests:
//
//   - PORTCULLIS_TEST_STORE=mongodb has it on a real MongoDB without a freshness lease. =replicas makes it three
//     processes on MongoDB and Redis behind one address with requests in turn. Without the variable it is one process
//     on the embedded store.
//   - PORTCULLIS_TEST_EDGE=users has every test speak to the users' listener.
//   - PORTCULLIS_TEST_PROCESSES=two has the firewall and the clusters in a process of their own.
//
// Each answer, and each granted request, is compared with the OpenAPI document (test/contract). The tests fail if the
// program's output shows a credential (test/secrets).
package harness
