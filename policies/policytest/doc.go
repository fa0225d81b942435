// Package policytest holds policy trees in memory, subjects and questions, for the tests of the packages
// below policies.
package policytest
