//go:build nightly

package replay_test

// ownDecisions is how many decisions TestTheTreeThatHasDecidedDecidesTheSame records.
const ownDecisions = 1_000_000
