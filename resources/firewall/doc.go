// Package firewall is security groups and their rules.
//
// The gateway has authorized a request before a handler sees it, and the area may run in
// a process with a store of its own, which has neither accounts nor roles: so policy is
// not asked again inside a transaction, as other areas do, and no account's revision
// moves, since no decision depends on what is changed here. That the caller's credential is
// still valid is asked there (Config.CheckCaller), where the store knows of it. The account and the project
// are the path's; a record of any other place is answered like one that is not there.
//
// Rules are part of their group's record. Two changes of one group conflict, which keeps
// its quota and its rules' being different from one another; a page of groups is a query
// for ten of them. A group is bounded in bytes, and so is a page, which therefore may end
// early. Rejected: a collection of rules, with a query for each group of a page. What
// makes a group or a rule, and what deletes a group, also writes the project's occupancy,
// so that the quota of groups holds and a rule never names a group that has just gone.
//
// A rule is kept and shown in one canonical form: tcp, udp and icmp are words and every
// other protocol is its number, a bare address becomes a prefix of one address, IPv6 is
// written as RFC 5952 says. Two rules are equal when direction, protocol, ports, ICMP
// type and code, remote end and priority are; a description tells no rules apart.
//
// A deleted group is shown in the list of deleted ones and nowhere else; a project keeps
// the 1,000 that were deleted last, since groups could be made and deleted without end.
package firewall
