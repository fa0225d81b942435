package load_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
)

const (
	// repeated is how many questions are asked again and again where nothing is new.
	repeated = 1000
	// actions is how many different actions are asked about in one place.
	actions = 20
	// deniedOneIn makes 5 % of the questions denied ones.
	deniedOneIn = 20
	// newInMix is the share of questions in the mix that name a new resource.
	newInMix = 0.6
	// skew is the exponent of the mix's Zipf distributions.
	skew = 1.1
	// standing is the resource of a question that names no new one.
	standing = "i-0"
	// reserved is how many users, the last ones, only the corpus is about.
	reserved = 20
)

// question is a question as every server is asked it, with the verdict that all have to give.
type question struct {
	user                      int
	action, project, resource string
	// own says that the user asks with a token of their own, and not a service.
	own, allowed bool
	// batch are questions that are asked together; the fields above are then of none.
	batch *[batchSize]question
}

// agrees reports whether an answer says what the world says: yes is there where the question is allowed,
// of a batch once for each question that is.
func (q *question) agrees(body, yes []byte) bool {
	if q.batch == nil {
		return bytes.Contains(body, yes) == q.allowed
	}
	allowed := 0
	for i := range q.batch {
		if q.batch[i].allowed {
			allowed++
		}
	}
	return bytes.Count(body, yes) == allowed
}

func (q question) String() string {
	if q.batch != nil {
		return fmt.Sprintf("a batch of %d", len(q.batch))
	}
	return fmt.Sprintf("%s %s in %s on %s", userID(q.user), q.action, q.project, q.resource)
}

// stream makes the questions of one kind of traffic, one after the other.
type stream func() question

// variants is how many different questions there are about one user.
func (w *world) variants() int { return w.assignments * actions }

// allowed returns the variant-th question about a user: another place, then another action.
func (w *world) allowed(user, variant int) question {
	r, project := w.held(user, variant%w.assignments)
	return question{
		user: user, action: r.asked[variant/w.assignments%len(r.asked)], project: project, resource: standing,
		own: user < len(w.tokens.users) && user%2 == 1, allowed: true,
	}
}

// denied returns such a question that is denied: the user holds no role in its project, or no role
// grants its action.
func (w *world) denied(user, variant int) question {
	q := w.allowed(user, variant)
	q.allowed = false
	if user/deniedOneIn%2 == 1 {
		q.project = emptyProject
	} else {
		q.action = fmt.Sprintf("project:nothing:verb%02d", variant%actions)
	}
	return q
}

func (w *world) question(user, variant int, denied bool) question {
	if denied {
		return w.denied(user, variant)
	}
	return w.allowed(user, variant)
}

// corpus is every known user once, which has their facts cached, and every question about the
// reserved users, allowed and denied.
func (w *world) corpus() []question {
	var all []question
	for user := range *known {
		all = append(all, w.question(user, 0, user%deniedOneIn == 0))
	}
	for user := w.users - reserved; user < w.users; user++ {
		for variant := range w.variants() {
			all = append(all, w.allowed(user, variant), w.denied(user, variant))
		}
	}
	return all
}

// same repeats the same questions about as many users.
func same(w *world) stream {
	i := -1
	return func() question {
		i = (i + 1) % repeated
		return w.question(i, i/deniedOneIn, i%deniedOneIn == 0)
	}
}

// again is each question of same once.
func again(w *world) []question {
	all := make([]question, repeated)
	for i, next := 0, same(w); i < repeated; i++ {
		all[i] = next()
	}
	return all
}

// newResource is same, but each question names a resource that was never named before.
func newResource(w *world) stream {
	next, name := same(w), resourceNames(1<<40)
	return func() question {
		q := next()
		q.resource = name()
		return q
	}
}

// newQuestion asks about one known user after the other, and each question once.
func newQuestion(w *world) stream {
	i := -1
	return func() question {
		i++
		user, variant := i%*known, 1 + i / *known
		return w.question(user, variant, (user+variant)%deniedOneIn == 0)
	}
}

// newUser asks once about each user who is neither known nor reserved.
func newUser(w *world) stream {
	i := -1
	return func() question {
		i++
		return w.question(*known+i%(w.users-*known-reserved), i/deniedOneIn, i%deniedOneIn == 0)
	}
}

// mix asks about known users and what they may do as often as a Zipf distribution says, and names
// a new resource in newInMix of the questions. It is the same for every server.
func mix(w *world) stream {
	chance := rand.New(rand.NewPCG(1, 2))
	users := rand.NewZipf(chance, skew, 1, uint64(*known-1))
	variants := rand.NewZipf(chance, skew, 1, uint64(w.variants()-1))
	name := resourceNames(2 << 40)
	return func() question {
		q := w.question(int(users.Uint64()), int(variants.Uint64()), chance.IntN(deniedOneIn) == 0)
		if chance.Float64() < newInMix {
			q.resource = name()
		}
		return q
	}
}

// resourceNames names one resource after the other.
func resourceNames(from uint64) func() string {
	return func() string { from++; return "i-" + strconv.FormatUint(from, 16) }
}

// request writes the question as a request to a gateway, and to every peer but OPA's server.
func (w *world) request(to []byte, q *question) []byte {
	token := w.tokens.service
	if q.own {
		token = w.tokens.users[q.user]
	}
	to = append(append(to, "POST "+checkPath...), w.account...)
	to = append(append(to, "/projects/"...), q.project...)
	to = append(append(to, "/instances/"...), q.resource...)
	to = append(append(to, " HTTP/1.1\r\nHost: load\r\nAuthorization: Bearer "...), token...)
	to = append(append(to, "\r\nX-User-ID: "...), userID(q.user)...)
	to = append(append(to, "\r\nX-Account-ID: "...), w.account...)
	to = append(append(to, "\r\nX-Action: "...), q.action...)
	return append(to, "\r\nContent-Length: 0\r\n\r\n"...)
}
