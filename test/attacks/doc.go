// Package attacks holds the attacks on the gateway, class by class. Each case was seen on a system
// of this kind or is of its kin, and is sent byte by byte to the real program. It must meet its
// refusal: the status, an error body, no evaluation, no change, no secret in answer or log. The
// connection closes if two servers could frame the request differently. Cases are generated
// (spellings, encodings, places). Those about endpoints come from the OpenAPI document: a new
// endpoint without a row fails. A class counts its cases and fails when they become fewer.
//
// A class returns its faults instead of failing its test. So the same cases run against mutants,
// programs without one defence, and must find each of them. Rejected: more cases in the tests of
// each package. They show a working defence, and not that the program has it in front of
// everything.
package attacks
