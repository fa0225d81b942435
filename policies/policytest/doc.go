// Package policytest holds policy trees in memory, subjects and questions, for the tests of the packages
// below policies. It draws questions (Random) and writes rules over the values of the input (Inputs) at random.
package policytest
