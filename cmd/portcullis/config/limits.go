package config

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/gateway"
	"github.com/portcullis-authz/portcullis/gateway/doors/authzen"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/firewall"
)

const (
	defaultDrain = 10 * time.Second
	// longestHandle and the 30 s of an assertion before it are below the time an area keeps a
	// project closed during its deletion.
	longestHandle = time.Minute
	// smallestHeader holds a request with the headers that gateways and browsers add.
	smallestHeader = 16 << 10
	defaultWaiting = 1024
	// longestStop bounds each part of a stop.
	longestStop = 10 * time.Minute
)

// Limits says what one request, one connection and all of them together may take.
type Limits struct {
	Edge gateway.Limits
	// Delay is how long requests are still taken after SIGTERM, before the drain.
	Delay time.Duration
	// Drain is how long requests under way may take after SIGTERM.
	Drain time.Duration
	// Waiting is how many questions of a kind may wait for facts and verdicts that are not
	// cached.
	Waiting int
	// MaxEvaluations is how many questions a batch may have.
	MaxEvaluations int
	// MaxGroups is how many security groups a project may have, MaxRules how many rules a
	// group.
	MaxGroups, MaxRules int
}

// flags adds the flags of the limits.
func (l *Limits) flags(f *pflag.FlagSet) {
	d := gateway.DefaultLimits()
	sizeVar(f, &l.Edge.Body, "body-limit", d.Body, "the largest request body (413)")
	sizeVar(f, &l.Edge.Header, "header-limit", d.Header, "the largest request line with headers (431)")
	DurationVar(f, &l.Edge.Read, "read-timeout", d.Read, "how long a request may take to arrive, as a whole")
	DurationVar(f, &l.Edge.Write, "write-timeout", d.Write, "how long a client may take to read its answer, as a whole")
	DurationVar(f, &l.Edge.Idle, "idle-timeout", d.Idle, "how long a connection may be idle")
	DurationVar(f, &l.Edge.Handle, "handle-timeout", d.Handle, "how long deciding and handling in this process may take")
	DurationVar(f, &l.Edge.Upstream, "upstream-timeout", d.Upstream, "how long an upstream may take to be connected to, to begin its answer, and for each part of it")
	DurationVar(f, &l.Delay, "shutdown-delay", 0, "how long requests are still taken after SIGTERM, while readiness is 503 and each answer ends its connection; then --drain-timeout begins")
	DurationVar(f, &l.Drain, "drain-timeout", defaultDrain, "how long requests under way may take after SIGTERM and --shutdown-delay")
	f.IntVar(&l.Edge.Connections, "max-connections", d.Connections, "how many connections may be open; 0 is no bound")
	f.IntVar(&l.Edge.PerAddress, "max-connections-per-address", d.PerAddress, "how many of them from one address (IPv6: one /64); 0 is no bound")
	f.IntVar(&l.Edge.Requests, "max-requests", d.Requests, "how many requests may be under way, in this process and to each upstream; 0 is no bound")
	sizeVar(f, &l.Edge.Bodies, "max-body-memory", d.Bodies, "what the bodies of all requests under way may take together; 0 is no bound")
	f.IntVar(&l.Waiting, "max-cold", defaultWaiting, "how many questions of each kind may wait for facts and verdicts that are not cached; with 0 none waits")
	f.IntVar(&l.MaxEvaluations, "max-evaluations", authzen.DefaultMost, "how many questions a batch at /access/v1/evaluations may have")
	f.IntVar(&l.MaxGroups, "max-security-groups", firewall.DefaultMaxGroups, "how many security groups a project may have; one that has more keeps them and gets no further one")
	f.IntVar(&l.MaxRules, "max-security-group-rules", firewall.DefaultMaxRules, "how many rules a security group may have; one that has more keeps them and gets no further one")
}

// Validate returns the bounds too low for any client, and those too high to bound anything: one
// client can take each of them, as often as it likes.
func (l Limits) Validate() []resources.Problem {
	problems := l.validateTimes()
	switch {
	case l.Edge.Body <= 0:
		problems = append(problems, tooSmall("--body-limit", "more than 0"))
	case l.Edge.Bodies > 0 && l.Edge.Bodies < l.Edge.Body:
		problems = append(problems, problem("--max-body-memory", "must be --body-limit (%s) at least, or 0", size(l.Edge.Body)))
	}
	if l.Edge.Header < smallestHeader {
		problems = append(problems, tooSmall("--header-limit", size(smallestHeader).String()+" at least"))
	}
	for _, s := range []struct {
		flag     string
		is, most size
	}{
		{"--body-limit", size(l.Edge.Body), 64 << 20},
		{"--header-limit", size(l.Edge.Header), 1 << 20},
	} {
		if s.is > s.most {
			problems = append(problems, problem(s.flag, "must be at most %d bytes (%s), not %d: as much memory is kept for each connection", int(s.most), s.most, int(s.is)))
		}
	}
	for _, n := range []struct {
		flag        string
		is, atLeast int
	}{
		{"--max-connections", l.Edge.Connections, 0},
		{"--max-connections-per-address", l.Edge.PerAddress, 0},
		{"--max-requests", l.Edge.Requests, 0},
		{"--max-cold", l.Waiting, 0},
		{"--max-evaluations", l.MaxEvaluations, 1},
		{"--max-security-groups", l.MaxGroups, 1},
		{"--max-security-group-rules", l.MaxRules, 1},
	} {
		if n.is < n.atLeast {
			problems = append(problems, problem(n.flag, "must be %d at least, not %d", n.atLeast, n.is))
		}
	}
	return problems
}

// validateTimes returns the problems of the timeouts: each must be more than 0 and at most its own
// maximum.
func (l Limits) validateTimes() (problems []resources.Problem) {
	const slow = "a client that is slow on purpose would hold a connection, or delay a stop, for so long"
	for _, t := range []struct {
		flag     string
		is, most time.Duration
		because  string
	}{
		{"--read-timeout", l.Edge.Read, 5 * time.Minute, slow},
		{"--write-timeout", l.Edge.Write, time.Hour, slow},
		{"--idle-timeout", l.Edge.Idle, 24 * time.Hour, slow},
		{"--handle-timeout", l.Edge.Handle, longestHandle, "a request that goes on for longer could make something in a project that was deleted meanwhile"},
		{"--upstream-timeout", l.Edge.Upstream, time.Hour, slow},
		{"--drain-timeout", l.Drain, longestStop, slow},
	} {
		switch {
		case t.is <= 0:
			problems = append(problems, tooSmall(t.flag, "more than 0"))
		case t.is > t.most:
			problems = append(problems, problem(t.flag, "must be at most %s, not %s: %s", t.most, t.is, t.because))
		}
	}
	if l.Delay < 0 || l.Delay > longestStop {
		problems = append(problems, problem("--shutdown-delay", "must be from 0 to %s, not %s: a stop waits for it, whatever clients do", longestStop, l.Delay))
	}
	return problems
}

// tooSmall returns the problem of a bound that leaves a client nothing.
func tooSmall(flag, want string) resources.Problem {
	return problem(flag, "is too small: it bounds what a client can take, and must be %s", want)
}
