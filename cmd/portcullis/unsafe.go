package main

import (
	"fmt"
	"net"
	"time"
)

// checkLargest refuses bounds so large that they bound nothing: each is what one client can
// take of the process, as often as it likes.
func (s *settings) checkLargest() error {
	for _, b := range []struct {
		name     string
		is, most time.Duration
	}{
		{"--read-timeout", s.limits.Read, 5 * time.Minute},
		{"--write-timeout", s.limits.Write, time.Hour},
		{"--idle-timeout", s.limits.Idle, 24 * time.Hour},
		{"--upstream-timeout", s.limits.Upstream, time.Hour},
		{"--drain-timeout", s.drain, 10 * time.Minute},
	} {
		if b.is > b.most {
			return fmt.Errorf("%s must be at most %s, not %s: a client that is slow on purpose would hold a connection, or a stop, for as long", b.name, b.most, b.is)
		}
	}
	for _, b := range []struct {
		name     string
		is, most size
	}{
		{"--body-limit", size(s.limits.Body), 64 << 20},
		{"--header-limit", size(s.limits.Header), 1 << 20},
	} {
		if b.is > b.most {
			return fmt.Errorf("%s must be at most %d bytes (%s), not %d: as much memory is kept for each connection", b.name, b.most, &b.most, b.is)
		}
	}
	return nil
}

// checkListeners refuses addresses that are none, and two listeners on one: what is for the
// operator alone would stand where everybody calls, or one of them would not start.
func (s *settings) checkListeners() error {
	type listener struct{ name, address, host, port string }
	all := []listener{{name: "--health-listen", address: s.healthListen}, {name: "--listen", address: s.listen}}
	if s.role != roleResources {
		all = append(all, listener{name: "--users-listen", address: s.usersListen})
	}
	for i := range all {
		l := &all[i]
		if l.address == "" {
			return fmt.Errorf("%s is empty: any free port would be taken; give host:port or :port", l.name)
		}
		var err error
		if l.host, l.port, err = net.SplitHostPort(l.address); err != nil {
			return fmt.Errorf("%s must be host:port or :port, not %q", l.name, l.address)
		}
		for _, other := range all[:i] {
			if l.port == other.port && l.port != "0" && sameHost(l.host, other.host) {
				return fmt.Errorf("%s and %s are both on %s; health and metrics are private, and each listener needs a port of its own", other.name, l.name, l.address)
			}
		}
	}
	return nil
}

// sameHost says whether two listeners of one port meet: one that names no address has all.
func sameHost(a, b string) bool {
	every := func(host string) bool {
		ip := net.ParseIP(host)
		return host == "" || ip != nil && ip.IsUnspecified()
	}
	return a == b || every(a) || every(b)
}
