// Package people says whom of the real users of a store a change of the policy lets in or shuts out.
//
// Users are put together whose facts no rule of the two trees can tell apart: ids are replaced by names that stand for
// any, but for those that a tree names (form.go). Each distinct set of facts is judged once, by both trees, whole: an
// evaluation of the entry point, and no table. The questions come from what the comparison of the trees found (ask.go): the
// actions, routes and grants of the rows in which access turns, by the user's own token, by the user's API keys, and by a
// service that asks about the user, at the account, at each place where the user holds a role, and in another project.
//
// Where the comparison is not exhaustive, all actions that a tree lists and all routes are asked about besides, and ids that
// a rule hands to a built-in stay as they are. Memory is bounded: how many sets are kept, their bytes, and how many
// users each names. A report counts the users that a bound leaves out, and guesses nothing of them.
//
// A user is a Person here: the facts that rules read, without UUID, e-mail address, name or the hash of a key.
//
// Rejected:
//   - the rows' own conditions held against each user: their states are unions, so that a user would be named whom no
//     question of the row is about;
//   - judging in the running gateway: it would evaluate a tree that somebody sends, beside live traffic.
package people
