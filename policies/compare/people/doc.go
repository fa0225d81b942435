// Package people says which real users of a store gain or lose access by a change of the policy.
//
// A stand is what rules can read of a user at one place: the account, each project and resource with a role of the user,
// another project, and another account (stand.go). Ids that no tree names are replaced (names.go), unless a rule passes
// ids to a built-in. The rows of policies/question that the rules read make the key of a stand. Both trees judge each
// distinct stand once. Users with equal stands are one set of facts.
//
// The questions are those of the rows in which access changes (ask.go), by the user's own token, by the user's API keys,
// and by a service about the user. If the comparison is not exhaustive, they are also all listed actions and routes.
//
// Memory is bounded: the number of stands and sets, their bytes, and the users that each set names. The report counts the
// users beyond a bound, and guesses nothing about them.
//
// A user is a Person here: the facts that rules read, without UUID, e-mail address, name or the hash of a key.
//
// Rejected:
//   - matching users against the states of a row: these are unions, and no question of the row need be about the user;
//   - keeping all ids: one rule about one id would make each user a set of facts;
//   - judging in the running gateway: it would evaluate foreign trees beside live traffic.
package people
