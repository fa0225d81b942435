// Package firewall is the area of security groups and their rules.
//
// Policy has allowed a request before a handler here sees it, and is not asked again: no decision
// depends on a security group. So no change bumps a revision, and the area may run in a process
// whose store holds neither accounts nor roles. The transaction of a change checks the caller's
// credential again, if the store can (Config.CheckCaller). A record outside the path's account and
// project is answered like an unknown one.
//
// Rules are part of the record of their group. So two changes of one group conflict, and keep the
// quota of rules and the difference between rules. A change also writes the project's occupancy if
// it makes a group or a rule, or deletes a group. So two of these conflict, too. They keep the
// quota of groups, and no rule names a group deleted meanwhile.
//
// A group is bounded in bytes, and so is a page of groups: it may end early.
//
// A rule is stored and shown in one canonical form: the protocols tcp, udp and icmp are words and
// all others numbers, a bare address is a prefix of one address, IPv6 is written as in RFC 5952.
// Two rules are equal when direction, protocol, ports, ICMP type and code, remote end and priority
// are equal; descriptions may differ.
//
// Only the list of deleted groups shows a deleted group. A project keeps the last 1,000 of them.
//
// # Rejected
//
// A collection of rules: each group of a page would cost a query.
package firewall
