// Package load measures the cost of traffic for a gateway and its peers, and the growth of the cost with assignments,
// roles and users. It runs on request: make bench-load. It is a module of its own, so that the program's module does
// not require the peers.
//
// # What is asked
//
// Real traffic names resources, most of them for the first time. So there are five kinds of traffic: the same questions
// again; a new resource id, with a known user, project and action; a new question about a known user (another action or
// project); a new user; and a mix. The mix draws users and questions by a Zipf distribution, with 60 % new resource
// ids. 5 % of every kind are denied. The gateway has cached the facts of known users. Half of these ask with a token of
// their own; a service asks about the others. No facts change.
//
// # Searches
//
// BenchmarkLoadOfSearch asks for the first 100 of 1,000 users with a role in the whole account, among 100,000 users
// with another role each, and among those 1,000 alone. Measured on one core, machine shared: 4.0 and 4.2 ms (p50) and
// 5.6 and 5.3 ms of CPU a page, a ratio of 1.03 (at most 1.2). A page reads the facts of its users anew, and judges
// them.
//
// # Batches
//
// BenchmarkLoadOfBatch asks the same questions again, 100 of them together and one by one, all by a service and warm.
// Measured on one core, machine busy: 1.3 ms of CPU a batch, 55 µs a call of E3, so 0.23 [0.17, 0.27] of 100 calls (at
// most 0.3).
//
// It also asks 100 questions about a new user in one project, and compares them to a batch about a known user and a new
// user's first call. store/rolecache tests that such a batch reads the facts once (TestABatchAboutOneUserIsOneRead). As
// a ratio it disappears in the noise of a busy machine: 0.94, 0.91 and 1.10 in three runs.
//
// # Envoy's checks
//
// BenchmarkLoadExtAuthz compares warm checks to a bare gRPC service that answers the same bytes. Measured on one core,
// machine busy: 85 µs and 46 µs of CPU, 1.82 [1.74, 1.92] times as much (at most 2).
//
// # Tracing
//
// BenchmarkLoadOfTracing compares warm calls of gateways with tracing of one request in a hundred, and of all, to those
// of one without tracing. The limit for one in a hundred is 1.03. A second gateway without tracing shows the noise.
// cmd/portcullis/tracing tests the cost without a tracer, and the allocations of an unsampled request.
//
// # The decision log
//
// BenchmarkLoadOfDecisionLog compares warm calls of a gateway with a decision log in its mode best-effort to those of
// one without (at most 1.15). Every other benchmark runs without a decision log.
//
// # A candidate beside the policy in force
//
// BenchmarkLoadOfShadow compares the 99th percentile of warm live answers between gateways with a candidate (a good
// one, one with a loop, one that fails, one with high memory use) and a gateway without one (at most 1.05). First it
// compares a second gateway without a candidate, and so shows the noise: a limit inside that interval can't be judged.
// Gateways take turns. The client sends requests on time, at 0.3 of the capacity of one connection, and counts a
// latency from the due time. The percentile is of all windows of a gateway together: one window of half a second has
// too few slow answers. Its interval is a bootstrap over turns. The report also has the CPU time of a request. A figure
// takes 40 windows or more, and about a minute for each candidate:
//
//	go test -run '^$' -bench LoadOfShadow -benchtime 1x -timeout 30m ./test/load -pairs 40
//
// # Peers
//
//   - The gateway with its defaults, except for the decision log, since no peer has one: access log, decision ids and
//     metrics are on. It caches verified tokens.
//
//   - The bare handler of fiber: it reads the headers and answers a constant.
//
//   - The bare handler with a verification of the request's token by golang-jwt, each time.
//
//   - OPA's server with the same policy tree. The client sends the whole input of a gateway, with the user's
//     assignments.
//
//   - OPA's server with a policy of a dozen lines for roles in projects, and only the input for it.
//
//   - cedar-go in a fiber handler: one policy for each role, and the places of each role as attributes of a user.
//
//   - casbin in a fiber handler: its model of roles in domains, its cached enforcer. That cache has
//     no bound.
//
//   - For Envoy's checks: a bare gRPC service that answers the same message each time.
//
// The differences in their work favour the peers: only the gateway and the second handler verify tokens, and only the
// gateway logs, names revisions, and sees changes. cedar-go and casbin have the facts in their memory. All servers must
// answer the corpus correctly before the measurement. The client checks every answer of a window, too, and the first
// wrong one ends the run.
//
// # How it is measured
//
// Every server is a process of its own on one core with GOMAXPROCS=1; the client has the other core. The report
// compares the servers' CPU time for each request: wall time would include the client and the neighbours. A ratio is of
// windows one right after the other, with another server first in each turn, so that a disturbance of the machine
// affects all of them. The report compares the median with the limit, and prints its interval.
//
// # Ratios to OPA's server
//
// They depend mostly on the policy and the input of OPA. Measured on one core: the shipped tree with the gateway's
// whole input takes about 280 µs a question, half of it for HTTP and 1.4 kB of JSON. A policy of a dozen lines with 0.2
// kB takes 70 to 110 µs. A cache miss of the gateway takes about 130 µs for a new question, and 190 to 300 µs for a new
// user, since it reads the facts first. So a new user costs 0.7 to 1.0 × OPA's server with the shipped tree, and 2.7 ×
// the one with the small policy. A new question costs 0.5 × and 1.4 ×. The table has both of OPA's servers. The limits
// are ratios to the bare handler.
//
// # Rejected
//
// In-process benchmarks leave out the kernel's part. Load tools such as wrk can't send 100,000 different questions and
// check every answer.
package load
