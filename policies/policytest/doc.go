// Package policytest has policy trees in memory, subjects and questions for the tests of the packages below policies.
// It draws random questions (Random), random rules over the values of the input (Inputs), and random changes of a tree
// (Edit).
package policytest
