// Package guards evaluates the guards of the tree in force on the change to another tree. A guard is a rule
// `deny contains "<reason>"` of package guards. Its input is the report of policies/compare/diff. A guard that fires
// refuses the change by its reason. A guard that fails or takes too long refuses it as well. So does a comparison with
// gaps, or of more than a minute.
//
// The new tree must keep every guard in the same form, unless the tree in force names the guard in guards.removable. To
// remove a guard takes two reloads, and the first one announces it.
//
// guards.allow_not_exhaustive of the tree in force names, by file and rule, what a comparison may leave out.
//
// Rejected: evaluating the guards of the new tree, which could drop its own.
package guards
