// Package verdict answers "may they?" for every way into the gateway: a call of a route (Enter)
// and a question that another service asks (Ask). It finds the facts of now, has policy decide on
// them, and gives one Verdict or one error.
//
// It knows no protocol: a door (gateway/doors) reads the question and renders the verdict. It
// knows no store and no OPA either: Facts and Policy are interfaces, which store/rolecache and
// policies/engine implement.
//
// The zero Verdict denies, and every error comes with a Verdict that denies. Facts or a policy
// that fail in any way are an error of resources.KindUnavailable: a verdict that could not be
// reached is not an allow, and is no fault of the request.
//
// Batches judges questions that are asked together: all by one policy tree, those about an account on
// facts of one revision, which are gathered once. A problem of one item is that item's error; facts
// that can't be had end the batch. Rejected: a batch as a loop over Ask, in which a change between two items shows
// a state that never was.
//
// Verdicts are not cached here: policies/engine caches its decisions by all that they depend on,
// and store/rolecache the facts, so each question is judged on the facts of now. Rejected: a cache
// of whole responses in front of both, which had to know what every later step would look at.
package verdict
