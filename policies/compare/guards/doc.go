// Package guards asks the guards of the tree in force about the tree that is to take its place. A guard is a rule
// `deny contains "<reason>"` of package guards, over what the change changes (policies/compare/diff). It refuses the
// change by its reason, and so does a guard that fails, takes too long, or is asked about a comparison that isn't
// exhaustive. One that doesn't end in a minute refuses the change too.
//
// A guard that the new tree lacks, or has in another form, refuses the change as well, unless the tree in force names it
// in guards.removable: so a guard is taken away by two reloads, and the first says that this is meant.
//
// What a comparison leaves out is taken where the tree in force names it in guards.allow_not_exhaustive, by file and rule.
//
// Rejected: asking the guards of the new tree, which could take its own away.
package guards
