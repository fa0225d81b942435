// Package diff reports what a change of a policy tree changes: gained and lost access, other reasons, and fields of routes
// that no rule reads. It sorts what policies/compare finds, and renders it for people, programs and pull requests.
package diff
