package load_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
)

const (
	// repeated is the number of questions in the traffic without new ones.
	repeated = 1000
	// actions is the number of different actions in questions about one project.
	actions = 20
	// deniedOneIn makes one in 20 questions, 5 %, a denied one.
	deniedOneIn = 20
	// newInMix is the share of questions with a new resource in the mix.
	newInMix = 0.6
	// skew is the exponent of the mix's Zipf distributions.
	skew = 1.1
	// standing is the resource of the other questions.
	standing = "i-0"
	// reserved is the number of users, the last ones, in the corpus only.
	reserved = 20
)

// question is a question to every server, with the correct verdict.
type question struct {
	user                      int
	action, project, resource string
	// byUser means that the user asks with a token of their own, and not a service.
	byUser, allowed bool
	// batch has the questions of a batch. The fields above are unused then.
	batch *[batchSize]question
}

// agrees reports whether an answer is correct: it contains yes if the question is allowed, and once for each allowed
// question of a batch.
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

// stream returns the questions of one kind of traffic, one after the other.
type stream func() question

// variants returns the number of different questions about one user.
func (w *world) variants() int { return w.assignments * actions }

// allowed returns the variant-th question about a user: another place, then another action.
func (w *world) allowed(user, variant int) question {
	r, project := w.held(user, variant%w.assignments)
	return question{
		user: user, action: r.asked[variant/w.assignments%len(r.asked)], project: project, resource: standing,
		byUser: user < len(w.tokens.users) && user%2 == 1, allowed: true,
	}
}

// denied returns a denied question about a user: the user holds no role in its project, or no role grants its action.
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

// corpus returns one question about every known user, which makes servers cache their facts, and every question about
// the reserved users.
func (w *world) corpus() []question {
	var all []question
	for user := range *knownUsers {
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

// again returns each question of same once.
func again(w *world) []question {
	all := make([]question, repeated)
	for i, next := 0, same(w); i < repeated; i++ {
		all[i] = next()
	}
	return all
}

// newResource is same with a new resource in each question.
func newResource(w *world) stream {
	next, name := same(w), resourceNames(1<<40)
	return func() question {
		q := next()
		q.resource = name()
		return q
	}
}

// newQuestion asks about one known user after the other, never the same question twice.
func newQuestion(w *world) stream {
	i := -1
	return func() question {
		i++
		user, variant := i%*knownUsers, 1 + i / *knownUsers
		return w.question(user, variant, (user+variant)%deniedOneIn == 0)
	}
}

// newUser asks once about each user outside the known and the reserved ones.
func newUser(w *world) stream {
	i := -1
	return func() question {
		i++
		return w.question(*knownUsers+i%(w.users-*knownUsers-reserved), i/deniedOneIn, i%deniedOneIn == 0)
	}
}

// mix draws known users and their questions by Zipf distributions, with a new resource in newInMix of the questions. It
// is the same for every server.
func mix(w *world) stream {
	chance := rand.New(rand.NewPCG(1, 2))
	users := rand.NewZipf(chance, skew, 1, uint64(*knownUsers-1))
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

// resourceNames returns a function that returns new names.
func resourceNames(n uint64) func() string {
	return func() string { n++; return "i-" + strconv.FormatUint(n, 16) }
}

// request writes the question as a request to a gateway or to any peer except OPA's server.
func (w *world) request(out []byte, q *question) []byte {
	token := w.tokens.service
	if q.byUser {
		token = w.tokens.users[q.user]
	}
	out = append(append(out, "POST "+checkPath...), w.account...)
	out = append(append(out, "/projects/"...), q.project...)
	out = append(append(out, "/instances/"...), q.resource...)
	out = append(append(out, " HTTP/1.1\r\nHost: load\r\nAuthorization: Bearer "...), token...)
	out = append(append(out, "\r\nX-User-ID: "...), userID(q.user)...)
	out = append(append(out, "\r\nX-Account-ID: "...), w.account...)
	out = append(append(out, "\r\nX-Action: "...), q.action...)
	return append(out, "\r\nContent-Length: 0\r\n\r\n"...)
}
