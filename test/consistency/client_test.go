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
	// settleTime is after how long a change of unknown outcome can't happen any more: its
	// handler has ended, and so has its commit.
	settleTime = 18 * time.Second
)

// request is one to any replica.
type request struct {
	method, path, token, body string
	header                    map[string]string
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// client is one with connections of its own.
type client struct {
	w    *world
	http *http.Client
}

func newClient(w *world) *client {
	return &client{w: w, http: &http.Client{Timeout: answerTime, Transport: &http.Transport{MaxIdleConnsPerHost: 2}}}
}

// send makes a request of a replica.
func (c *client) send(to *replica, q request, strict bool) (answer, error) {
	r, err := http.NewRequest(q.method, to.url+q.path, strings.NewReader(q.body))
	if err != nil {
		return answer{}, err
	}
	if q.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Authorization", "Bearer "+q.token)
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	if strict {
		r.Header.Set("X-Consistency", "strict")
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	a := answer{status: resp.StatusCode, header: resp.Header}
	a.body, err = io.ReadAll(resp.Body)
	return a, err
}

// ask puts the cell's question to a replica, and notes what it was told.
func (c *client) ask(cl *cell, to *replica, strict bool) {
	key := cl.newest()
	if cl.kind.name == "key" && key.raw == "" {
		return
	}
	q := cl.decision(c.w.checker)
	if cl.kind.ask != nil {
		q = cl.kind.ask(cl, key)
	}
	o := op{register: cl.register(key), strict: strict, replica: to.n, call: c.w.h.now()}
	a, err := c.send(to, q, strict)
	o.ret = c.w.h.now()
	value, decided := cl.told(a)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED): // it is being started again
		time.Sleep(5 * time.Millisecond)
		c.w.h.none()
		return
	case err != nil || a.status == http.StatusServiceUnavailable:
		c.w.h.none()
		return
	case !decided:
		c.w.h.violated(fmt.Sprintf("%s: asked replica %d: %d %s", o.register, to.n, a.status, a.body))
		return
	}
	o.value = value
	if revision := a.header.Get("X-Account-Revision"); cl.kind.ask == nil && revision != "" {
		o.question, o.revision = cl.id, cl.account+" "+revision
	}
	c.w.h.add(o)
}

// change sets the register to what it is not, and notes what came of it. It gives false
// where that is not known, or nothing was done.
func (c *client) change(cl *cell, to *replica) (known bool) {
	if c.w.h.now() < cl.quietUntil {
		return false
	}
	value := !cl.value
	o := op{register: cl.register(cl.newest()), write: true, value: value, replica: to.n, call: c.w.h.now()}
	c.w.h.sent(o)
	a, err := c.send(to, cl.kind.change(c.w, cl, value), false)
	o.ret = c.w.h.now()
	register, outcome := o.register, &o
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		outcome = nil
	case err != nil || a.status == http.StatusServiceUnavailable:
		outcome = cl.unknown(o)
	case a.status != 200 && a.status != 201 && (a.status != 404 || value):
		c.w.h.violated(fmt.Sprintf("%s: %t by replica %d: %d %s", o.register, value, to.n, a.status, a.body))
		outcome = nil
	default:
		known = true
		cl.value = value
		if cl.kind.name == "key" && value {
			cl.made(a)
			o.register = cl.register(cl.newest())
		}
		c.w.h.took("change answered", o.ret-o.call)
	}
	c.w.h.ended(register, outcome)
	return known
}

// writes changes its cells again and again, and asks every replica right after each answer.
func (c *client) writes(mine []*cell, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		cl := mine[rand.IntN(len(mine))]
		if c.w.h.now() < cl.quietUntil { // a change of unknown outcome may happen yet
			time.Sleep(time.Millisecond)
			continue
		}
		c.w.hot.put(cl)
		writers := c.w.replicas[c.w.readOnly:]
		if !c.change(cl, writers[rand.IntN(len(writers))]) {
			continue
		}
		answered := c.w.h.now()
		for _, to := range c.w.replicas {
			c.ask(cl, to, c.w.strictNow())
		}
		c.w.h.took("asked everywhere", c.w.h.now()-answered)
	}
}

// asks puts questions, mostly about what changes just now.
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

// strictNow says whether the next question asks for the strict path. Most of the time none
// does: each of them refreshes what the others rest on.
func (w *world) strictNow() bool {
	return int(w.h.now().Seconds())%5 == 4 && rand.IntN(2) == 0
}

// any is one of the replicas.
func (w *world) any() *replica { return w.replicas[rand.IntN(len(w.replicas))] }
