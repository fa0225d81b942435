package gateway

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/memo"
)

// DefaultAnswers is how many answers are remembered where Config does not say.
const DefaultAnswers = 1 << 17

const (
	// maxQuestion bounds in bytes what names a question; maxAnswer the path and the reason
	// of one that is remembered.
	maxQuestion = 8 << 10
	maxAnswer   = 1 << 10
)

// answer is what a question (E3) was answered, with all on which that rests: the catalogue
// and the policy in force, who asked, and the facts about whom they asked. It never changes.
type answer struct {
	routes   *table
	standing resources.Standing
	rests    rests
	// foundIn are the facts in which the caller was found, nil where those are no others
	// than of rests: services are looked for in none.
	foundIn *resources.Stamp
	// caller is who is held to a rate; nil where nobody is.
	caller *resources.Principal
	body   string
	// record is what is observed, but for what each request has of its own.
	record Record
}

// rests are the facts and the times on which policy's decisions about a request rest.
type rests struct {
	facts resources.Stamp
	// from and until are the times between which every decision is the same.
	from, until resources.Time
}

// also takes a further decision about the same request into account. Decisions that rest on
// facts of different revisions belong to no time.
func (r rests) also(facts resources.Stamp, now, until resources.Time) rests {
	if r == (rests{}) {
		return rests{facts, now, until}
	}
	r.from, r.until = max(r.from, now), min(r.until, until)
	if r.facts != facts {
		r.until = 0
	}
	return r
}

// answers remembers E3's answers by a hash of all that is read of a request to answer it:
// its target, the credential, and the identity headers, as bytes. One that still stands is
// what the steps would come to again, so it is given without them; see stands for what is
// judged each time. Nothing is remembered of refusals, of requests with an API key, a body
// or a consistency, and of answers that policy does not vouch for (resources.Decision).
// Without it all requests go through the steps.
type answers struct {
	table *memo.Table[answer]
	names cipher.AEAD
	nonce [12]byte // of all names, and never written
	// buffers are where questions are put together; a new one for each would be garbage at
	// once.
	buffers sync.Pool
}

// newAnswers makes room for so many; nil, which remembers none, for less than 0.
func newAnswers(entries int) (*answers, error) {
	switch {
	case entries < 0:
		return nil, nil //nolint:nilnil // none are remembered
	case entries == 0:
		entries = DefaultAnswers
	}
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, fmt.Errorf("gateway: answers cannot be remembered here; --kept-answers 0 goes without: %w", err)
	}
	a := &answers{table: memo.New[answer](entries)}
	if a.names, err = cipher.NewGCM(block); err != nil {
		return nil, fmt.Errorf("gateway: answers cannot be remembered here; --kept-answers 0 goes without: %w", err)
	}
	a.buffers.New = func() any { room := make([]byte, 0, maxQuestion+nameSize); return &room }
	return a, nil
}

const nameSize = 16

// questionName is the hash of a question's bytes: what is remembered holds no credential.
// It is GMAC's tag under a key that is made at start (NIST SP 800-38D). Names are told to
// nobody, so they need no nonce; two questions of whoever does not know the key share a name
// with a chance of one in 2^118.
type questionName [nameSize]byte

// name names the question that a request asks; false is that its answer is not remembered.
// Every part comes after its length, so no two questions have the same bytes.
func (a *answers) name(raw *fasthttp.Request, found *headers) (name questionName, ok bool) {
	target := raw.Header.RequestURI()
	size := len(target) + 4
	for _, value := range found.values {
		size += len(value) + 4
	}
	if size > maxQuestion || !found.asksOnly(&raw.Header) {
		return name, false
	}
	room := a.buffers.Get().(*[]byte)
	defer a.buffers.Put(room)
	b := part((*room)[:0], target)
	for _, value := range found.values {
		b = part(b, bytes.TrimPrefix(value, []byte(" ")))
	}
	return questionName(a.names.Seal(b, a.nonce[:], nil, b)[len(b):]), true
}

// part appends a part of a question.
func part(to, value []byte) []byte {
	return append(binary.BigEndian.AppendUint32(to, uint32(len(value))), value...) //nolint:gosec // at most maxQuestion
}

// asksOnly says whether the request has exactly one credential, a bearer's, and one of each
// header of E3, and nothing else on which an answer could rest.
func (f *headers) asksOnly(h *fasthttp.RequestHeader) bool {
	for i, name := range identityHeaders {
		want := uint8(1)
		if name == "x-api-key" || name == countedConsistency || name == "idempotency-key" {
			want = 0
		}
		if f.counts[i] != want || f.odd[i] {
			return false
		}
	}
	return h.IsPost() && !f.encoded && f.bodiless()
}

// recall answers a question that was answered before and whose answer still stands; false
// is that the steps have to answer, with what the caller has paid for the request.
func (e *Edge) recall(raw *fasthttp.RequestCtx) (answered bool, paid *payment) {
	if e.answers == nil {
		return false, nil
	}
	answered = true //nolint:wastedassign // what is answered after a panic: survive does that
	defer e.survive(raw)
	found, err := scanHead(raw)
	if err != nil {
		return false, nil
	}
	name, ok := e.answers.name(&raw.Request, &found)
	if !ok {
		return false, nil
	}
	a := e.answers.table.Get(name[:])
	now := e.cfg.Now()
	if a == nil || !e.stands(a, now) || !e.cfg.Rates.ofFailures(raw).Allowed {
		return false, nil
	}
	if a.caller != nil {
		p := e.cfg.Rates.charge(context.Background(), a.caller)
		if p.refused != "" {
			return false, &p
		}
		if p.told != nil {
			tellRate(&raw.Response.Header, p.told)
		}
	}
	record := a.record
	record.RequestID, record.DecisionID = e.requestIDs(string(sentID(&raw.Request.Header)), now)
	if record.DecisionID == "" {
		record.DecisionID = e.cfg.IDs.ULID()
	}
	setHeader(&raw.Response.Header, "X-Request-Id", record.RequestID)
	record.Status = e.sendVerdict(raw, &record, a.rests.facts.Revision)
	raw.Response.SetBodyString(a.body)
	record.ended(now, e.cfg.Now())
	e.observe(record)
	return true, nil
}

// stands judges all that may have changed since, in no order: who asks is who they were
// and may sign in, the policy and its catalogue are those in force, the facts about both
// are those of now, and no time has come at which policy may say something else.
func (e *Edge) stands(a *answer, now time.Time) bool {
	at := resources.At(now)
	return a.rests.from <= at && at < a.rests.until && a.routes == e.routes.Load() && a.record.PolicyRevision == e.cfg.Policy.Revision() &&
		a.standing.Stands(now) && e.cfg.Facts.Current(a.rests.facts) && (a.foundIn == nil || e.cfg.Facts.Current(*a.foundIn))
}

// remember keeps the answer to a question that went through the steps.
func (e *Edge) remember(x *exchange, body []byte) {
	if e.answers == nil || x.principal.Standing == nil || x.rests.until <= x.rests.from || len(x.path)+len(x.record.Reason) > maxAnswer {
		return
	}
	name, ok := e.answers.name(&x.raw.Request, &x.headers)
	if !ok {
		return
	}
	record := x.record
	record.RequestID, record.DecisionID, record.Remembered = "", "", true
	var prepared string
	if e.cfg.Prepare != nil {
		prepared = e.cfg.Prepare(record)
	}
	// What is read of it together lies together: most of the time is spent waiting for memory.
	var all [8]string
	own(all[:], name[:], []byte(x.rests.facts.AccountID), body, []byte(prepared), []byte(x.path), []byte(x.record.Subject), []byte(x.record.Account), []byte(x.record.Action))
	record.Prepared, record.Path, record.Subject, record.Account, record.Action = all[3], all[4], all[5], all[6], all[7]
	var caller *resources.Principal
	if e.cfg.Rates.ofCallers() {
		known := x.principal
		caller = &known
	}
	a := answer{routes: x.routes, standing: x.principal.Standing, rests: x.rests, caller: caller, body: all[2], record: record}
	a.rests.facts.AccountID = all[1]
	if found := x.principal.FoundIn; x.principal.Kind != resources.PrincipalService && found != x.rests.facts {
		a.foundIn = &found
	}
	e.answers.table.Put(all[0], a)
}
