// Package diff says what a change of a policy tree changes: who gains and who loses what, which reasons become others,
// and which fields of routes differ that no rule reads. It rests on policies/compare, and renders what that finds
// for people, programs and pull requests.
package diff
