//go:build !nightly

package faults_test

// logKills is how often TestKilledWhileDecisionsAreRequired kills.
const logKills = 5
