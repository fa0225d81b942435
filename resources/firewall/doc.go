// Package firewall is the area of security groups and their rules.
//
// Policy has allowed a request before a handler here sees it, and is not asked again: no decision
// depends on a security group, so no change bumps a revision, and the area may run in a process
// whose store holds neither accounts nor roles. The transaction of a change checks that the
// caller's credential is still valid, where the store can tell (Config.CheckCaller). A record of
// another account or project than the path's is answered like one that does not exist.
//
// Rules are part of the record of their group. So two changes of one group conflict, which keeps
// the quota of rules and keeps equal rules out. A change that makes a group or a rule or deletes a
// group also writes the project's occupancy. So two of them conflict too, which keeps the quota of
// groups and keeps rules from naming a group that was just deleted.
//
// A group is bounded in bytes, and so is a page of groups, which may end early for it.
//
// A rule is stored and shown in one canonical form: the protocols tcp, udp and icmp are words and
// all others numbers, a bare address is a prefix of one address, IPv6 is written as in RFC 5952.
// Two rules are equal when direction, protocol, ports, ICMP type and code, remote end and priority
// are equal; descriptions may differ.
//
// Only the list of deleted groups shows a deleted group. A project has the 1,000 that were deleted
// last.
//
// # Rejected
//
// A collection of rules: each group of a page would cost a query.
package firewall
