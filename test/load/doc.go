// Package load measures what traffic costs a gateway, beside its peers, and how that cost grows
// with assignments, roles and users. It runs on request: make bench-load. It is a module of its own, so that the
// program's has no requirement of the peers.
//
// # What is asked
//
// Real traffic names resources, most of them for the first time. So the same questions again are one
// kind of traffic of five; the others are a new resource id (the user, the project and the action
// are known), a new question about a known user (another action or project), a user seen for the
// first time, and a mix: users and what they may do by a Zipf distribution, 60 % new resource ids.
// 5 % of every kind are denied. Known users have their facts cached; every other one of them asks
// with a token of their own, the rest are asked about by a service. Nobody's facts change.
//
// # Searches
//
// BenchmarkLoadOfSearch asks for the first 100 of 1,000 users who hold a role in the whole account, among
// 100,000 users who hold another role each, and among those 1,000 alone. Measured on one core, machine
// shared: 4.0 and 4.2 ms (p50) and 5.6 and 5.3 ms of CPU a page, a ratio of 1.03 (at most 1.2). A page
// reads the facts of its users anew, and judges them.
//
// # Batches
//
// BenchmarkLoadOfBatch asks the same questions again, 100 of them together and one by one, all by a service
// and warm. Measured on one core, machine busy: 1.3 ms of CPU a batch, 55 µs a call of E3, so 0.23 [0.17,
// 0.27] of 100 calls (at most 0.3).
//
// It asks 100 questions about a user who is seen for the first time, too, in one project, beside the same
// about a user whose facts are known and a new user's first call. That they read the facts once is counted
// in store/rolecache (TestABatchAboutOneUserIsOneRead); as a ratio it is lost in a busy machine's noise: 0.94,
// 0.91 and 1.10 in three runs.
//
// # Envoy's checks
//
// BenchmarkLoadExtAuthz sets warm checks against a bare gRPC service that answers the same bytes. Measured on
// one core, machine busy: 85 µs and 46 µs of CPU, 1.82 [1.74, 1.92] times as much (at most 2).
//
// # Tracing
//
// BenchmarkLoadOfTracing sets warm calls of gateways that trace one request in a hundred, and all of them, against those
// of one that traces none (at most 1.03 for one in a hundred), beside a second one that traces none: what it differs by
// is chance. That nothing is wrapped without a tracer, and what a request that is not sampled allocates, are tests of
// cmd/portcullis/tracing.
//
// # The decision log
//
// BenchmarkLoadOfDecisionLog sets warm calls of a gateway that keeps a decision log, in its mode best-effort,
// against those of one that keeps none (at most 1.15). Every other benchmark is without it.
//
// # A candidate beside the policy in force
//
// BenchmarkLoadOfShadow sets the 99th percentile of warm live answers of gateways with a candidate (a good one, one that
// loops, one that fails, one that takes memory) against that of a gateway without one (at most 1.05), and a second gateway
// without one first: what that one differs by is chance, and a limit below its interval can't be judged. Gateways
// take turns; a request is sent on time, at 0.3 of what one connection can do, and its latency counts from when
// it was due. The percentile is that of all windows of a gateway together: a window of half a second alone has too few
// slow answers to have one. Its interval comes from drawing turns anew. CPU a request is beside it. A figure
// takes 40 windows or more, and about a minute for each candidate:
//
//	go test -run '^$' -bench LoadOfShadow -benchtime 1x -timeout 30m ./test/load -pairs 40
//
// # Peers
//
//   - The gateway, with its defaults but for the decision log, which no peer keeps: access log, decision ids
//     and metrics are on. It caches the tokens that it has verified.
//
//   - The bare handler of fiber: it reads the headers and answers a constant.
//
//   - The same one, after it has verified the request's token with golang-jwt, each time.
//
//   - OPA's server with the same policy tree. The client hands it the whole input that a gateway
//     would build, with the user's assignments.
//
//   - OPA's server with a policy of a dozen lines that knows roles in projects and nothing else, and
//     only the input that it looks at.
//
//   - cedar-go in a fiber handler: one policy for each role, a user has the places of each role.
//
//   - casbin in a fiber handler: its model of roles in domains, its cached enforcer. That cache has
//     no bound.
//
//   - For Envoy's checks: a bare gRPC service that answers the same message each time.
//
// Where they differ in what they have to do, the difference is in the others' favour: only the
// gateway and the second handler verify tokens, and only the gateway logs, names revisions, and
// knows of a change. The facts of cedar-go and casbin are in their memory. All of them have to answer
// the corpus as the world of the test says before anything is measured, and every answer of a window
// is looked at, too; the first wrong one ends the run.
//
// # How it is measured
//
// Every server is a process of its own on one core with GOMAXPROCS=1, the client has the other
// core. The servers' CPU time for each request is compared: wall time would measure
// the client and the neighbours too. Ratios are taken from windows one right after the other, with
// another server first in each turn, so that what disturbs the machine disturbs all of them; the
// median is held against the limit, and its interval printed.
//
// # Ratios to OPA's server
//
// They depend on what OPA is asked more than on anything else. Measured on one core: the shipped tree
// with the gateway's whole input takes about 280 µs a question, half of it HTTP and the reading of
// 1.4 kB of JSON; a policy of a dozen lines with 0.2 kB takes 70 to 110 µs. A cache miss of the gateway
// takes about 130 µs for a new question and 190 to 300 µs for a new user, whose facts are read first.
// So a new user costs 0.7 to 1.0 × OPA's server with the shipped tree, and 2.7 × one that is asked
// little; a new question 0.5 × and 1.4 ×. The earlier figure of this run, "cold 0.81 × OPA", was a new
// user against the shipped tree. Its users had one assignment each, and one service asked about all
// of them, whose right to ask was decided once. The table has both of OPA's servers, and the limits
// are held against the bare handler.
//
// # Rejected
//
// In-process benchmarks leave out the kernel's part; tools for load such as wrk can't ask 100,000
// different questions and look at every answer.
package load
