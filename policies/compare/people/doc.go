// Package people says which real users of a store gain or lose access by a change of the policy.
//
// A stand is what rules can read of a user at one place: the account, a project or resource where the user holds a role, a
// project where they hold none, and an account that is not theirs (stand.go). Ids are replaced by names that stand for
// any, but for those that a tree names (names.go). Users whose stands are equal are one set of facts. Each distinct stand
// is judged once by both trees, which evaluate the whole entry point.
//
// The questions come from the rows of the comparison in which access changes (ask.go): their actions, routes, targets and
// grants, by the user's own token, by the user's API keys, and by a service that asks about the user. Where the comparison
// is not exhaustive, they are also all listed actions and all routes. Where a rule hands ids to a built-in, ids stay as they
// are.
//
// Memory is bounded: the number of stands and sets, their bytes, and the users that each set names. The report counts the
// users beyond a bound, and guesses nothing about them.
//
// A user is a Person here: the facts that rules read, without UUID, e-mail address, name or the hash of a key.
//
// Rejected:
//   - matching users against the states of a row: these are unions, so that a user could match without a question of the
//     row being about them;
//   - grouping by the columns that a key holds (policies/question): a rule that compares an id with a constant would make
//     each user a set of their own;
//   - judging in the running gateway: it would evaluate a tree that somebody sends, beside live traffic.
package people
