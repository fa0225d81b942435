// Package attacks holds what the gateway must stand, class by class: each case is an attack that
// was seen on a system of this kind or is of its kin, sent byte by byte to the real program, with
// the refusal that it must meet: the status, an error body, no evaluation, no change, no secret in
// answer or log, the connection closed where two servers could frame the request differently.
// Cases are generated (spellings, encodings, places), and those about endpoints come from the
// OpenAPI document, so that a new endpoint without a row fails. A class counts its cases and fails
// when they become fewer.
//
// A class finds faults and returns them instead of failing its test, so that the same cases are
// run against mutants: programs without one defence, of which each has to be found out. Rejected:
// more cases in the tests of each package, which show that a defence works and not that the
// program has it in front of everything.
package attacks
