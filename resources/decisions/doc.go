// Package decisions answers what was decided in an account, from the decision logs of all gateways of an installation:
// newest first, by page, or as decisions are made. It also has what it shares with the private listener: the filters,
// and what users may read of a decision.
//
// A gateway keeps its own log. So a page is merged: each gateway answers for the logs in its folder, with how far it has
// looked in each, and a page token or a cursor holds those places.
//
// Rejected:
//   - decisions in the store: each verdict would be a change;
//   - a time as the cursor: logs are not in the exact order of time, so it would miss decisions or repeat them.
package decisions
