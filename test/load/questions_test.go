package load_test

import (
	"fmt"
	"strconv"
)

// perUser is how many different questions there are about one user: ten actions, of which the
// last is granted by no role, on ten instances each.
const perUser = 100

// stride takes questions out of order; it has no divisor in common with their number, which
// is a multiple of 100 with small divisors.
const stride = 7919

// question is one of them.
type question struct {
	user, instance  int
	action, project string
	// own says that the user asks with a token of their own, and not a service.
	own, allowed bool
}

// questions asks about users, every question once before any is repeated.
type questions struct {
	w    *world
	who  []int
	turn int
	last question
	// render writes the question as a request.
	render func(to []byte, q *question) []byte
	// once asks one question about each user, one user after the other, always as a service:
	// where users are new, their tokens would be too.
	once bool
}

func newQuestions(w *world, who []int, render func([]byte, *question) []byte) *questions {
	return &questions{w: w, who: who, render: render}
}

// everybody are all users of a world; some are n of them, evenly spread.
func everybody(w *world) []int { return some(w, w.users) }

func some(w *world, n int) []int {
	who := make([]int, n)
	for i := range who {
		who[i] = i * (w.users / n)
	}
	return who
}

func (q *questions) total() int {
	if q.once {
		return len(q.who)
	}
	return len(q.who) * perUser
}

// next is the next request, and whether it is to be allowed.
func (q *questions) next(to []byte) (request []byte, allowed bool) {
	i := q.turn % q.total()
	user, variant := i, i%perUser
	if !q.once {
		i = int(uint64(i) * stride % uint64(q.total()))
		user, variant = i/perUser, i%perUser
	}
	q.turn++
	q.last = q.w.question(q.who[user], variant)
	q.last.own = q.last.own && !q.once
	return q.render(to, &q.last), q.last.allowed
}

// question is the variant-th one about a user: in the places of different assignments.
func (w *world) question(user, variant int) question {
	k := variant % w.assignments
	r, _ := w.held(user, k)
	q := question{user: user, instance: variant / 10, project: projectID(user + k), own: user%2 == 1, allowed: variant%10 != 9}
	q.action = "project:nothing:granted"
	if q.allowed {
		q.action = r.asked[variant%10%len(r.asked)]
	}
	return q
}

// request is the question to a gateway. A bare handler is given the same bytes.
func (w *world) request(to []byte, q *question) []byte {
	token := w.tokens.service
	if q.own {
		token = w.tokens.users[q.user]
	}
	user := userID(q.user)
	to = append(to, "POST /api/v1/authorize/accounts/"...)
	to = append(append(append(to, w.account...), "/projects/"...), q.project...)
	to = strconv.AppendInt(append(to, "/instances/i-"...), int64(q.instance), 10)
	to = append(to, " HTTP/1.1\r\nHost: load\r\nAuthorization: Bearer "...)
	to = append(append(to, token...), "\r\nX-User-ID: "...)
	to = append(append(to, user...), "\r\nX-Account-ID: "...)
	to = append(append(to, w.account...), "\r\nX-Action: "...)
	return append(append(to, q.action...), "\r\nContent-Length: 0\r\n\r\n"...)
}

func (q question) String() string {
	return fmt.Sprintf("%s %s in %s on i-%d", userID(q.user), q.action, q.project, q.instance)
}
