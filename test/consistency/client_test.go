package consistency_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"syscall"
	"time"
)

const (
	// answerTime is how long a client waits for an answer.
	answerTime = 12 * time.Second
	// settleTime is the time after which a change of unknown outcome can no longer happen: its handler and its commit
	// have ended.
	settleTime = 18 * time.Second
)

// request is a request to any replica.
type request struct {
	method, path, token, body string
	header                    map[string]string
}

// answer is the answer to a request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// client sends requests on connections of its own.
type client struct {
	w    *world
	http *http.Client
}

func newClient(w *world) *client {
	return &client{w: w, http: &http.Client{Timeout: answerTime, Transport: &http.Transport{MaxIdleConnsPerHost: 2}}}
}

func (c *client) send(r *replica, q request, strict bool) (answer, error) {
	req, err := http.NewRequest(q.method, r.url+q.path, strings.NewReader(q.body))
	if err != nil {
		return answer{}, err
	}
	if q.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer "+q.token)
	for name, value := range q.header {
		req.Header.Set(name, value)
	}
	if strict {
		req.Header.Set("X-Consistency", "strict")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	a := answer{status: resp.StatusCode, header: resp.Header}
	a.body, err = io.ReadAll(resp.Body)
	return a, err
}

// ask sends the cell's question to a replica, and records the answer.
func (c *client) ask(cl *cell, r *replica, strict bool) {
	key := cl.newest()
	if cl.kind.name == "key" && key.raw == "" {
		return
	}
	q := cl.decision(c.w.checker)
	if cl.kind.ask != nil {
		q = cl.kind.ask(cl, key)
	}
	o := op{register: cl.register(key), strict: strict, replica: r.n, call: c.w.h.now()}
	a, err := c.send(r, q, strict)
	o.ret = c.w.h.now()
	value, decided := cl.read(a)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED): // the replica is restarting
		time.Sleep(5 * time.Millisecond)
		c.w.h.none()
		return
	case err != nil || a.status == http.StatusServiceUnavailable:
		c.w.h.none()
		return
	case !decided:
		c.w.h.violated(fmt.Sprintf("%s: asked replica %d: %d %s", o.register, r.n, a.status, a.body))
		return
	}
	o.value = value
	if revision := a.header.Get("X-Account-Revision"); cl.kind.ask == nil && revision != "" {
		o.question, o.revision = cl.id, cl.account+" "+revision
	}
	c.w.h.add(o)
}

// change inverts the register, and records the outcome. It returns false if the outcome is unknown, or if it sent
// nothing.
func (c *client) change(cl *cell, r *replica) (answered bool) {
	if c.w.h.now() < cl.quietUntil {
		return false
	}
	value := !cl.value
	o := op{register: cl.register(cl.newest()), write: true, value: value, replica: r.n, call: c.w.h.now()}
	c.w.h.sent(o)
	a, err := c.send(r, cl.kind.change(c.w, cl, value), false)
	o.ret = c.w.h.now()
	register, outcome := o.register, &o
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		outcome = nil
	case err != nil || a.status == http.StatusServiceUnavailable:
		outcome = cl.unknown(o)
	case a.status != 200 && a.status != 201 && (a.status != 404 || value):
		c.w.h.violated(fmt.Sprintf("%s: %t by replica %d: %d %s", o.register, value, r.n, a.status, a.body))
		outcome = nil
	default:
		answered = true
		cl.value = value
		if cl.kind.name == "key" && value {
			cl.made(a)
			o.register = cl.register(cl.newest())
		}
		c.w.h.took("change answered", o.ret-o.call)
	}
	c.w.h.ended(register, outcome)
	return answered
}

// writes changes its cells until stop is closed, and asks every replica right after each answer.
func (c *client) writes(cells []*cell, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		cl := cells[rand.IntN(len(cells))]
		if c.w.h.now() < cl.quietUntil { // a change of unknown outcome may still happen
			time.Sleep(time.Millisecond)
			continue
		}
		c.w.hot.put(cl)
		writers := c.w.replicas[c.w.readOnly:]
		if !c.change(cl, writers[rand.IntN(len(writers))]) {
			continue
		}
		answered := c.w.h.now()
		for _, r := range c.w.replicas {
			c.ask(cl, r, c.w.strictNow())
		}
		c.w.h.took("asked everywhere", c.w.h.now()-answered)
	}
}

// asks sends questions until stop is closed, mostly about cells that are changing.
func (c *client) asks(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		cl := c.w.cells[rand.IntN(len(c.w.cells))]
		if hot := c.w.hot.get(); hot != nil && rand.IntN(5) > 0 {
			cl = hot
		}
		c.ask(cl, c.w.any(), c.w.strictNow())
	}
}

// strictNow reports whether the next question asks for the strict path. In four of five seconds none does: each strict
// question makes a barrier, and other questions would use it.
func (w *world) strictNow() bool {
	return int(w.h.now().Seconds())%5 == 4 && rand.IntN(2) == 0
}

// any returns a random replica.
func (w *world) any() *replica { return w.replicas[rand.IntN(len(w.replicas))] }
