package authn

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"
)

// DefaultRemembered is how many verified tokens are remembered where Options do not say.
const DefaultRemembered = 1 << 15

// maxRemembered bounds in bytes what is remembered of one token; one that says more is
// verified each time.
const maxRemembered = 2 << 10

// tokenName is the hash of a whole token, which names its issuer: what is remembered can't
// be read back, and nothing shorter than the token names it.
type tokenName [sha256.Size]byte

// verified is what a token said and the key that vouched for it. It is immutable.
type verified struct {
	issuer *trusted
	header header
	// keys are the set in which key was found: as long as it is in use, it is the key.
	keys KeySet
	key  verifyKey
	// from and until are when the token holds, the clocks' leeway in it.
	from, until time.Time
	claims      Claims
}

// holds judges what changes while a token lives, by the rules of the first time: whether it
// is within its times, and its name for a key still means the very key that vouched for it.
// One that does not hold is to be verified anew, for the reason. The error is that there is
// no key to judge it by.
func (v *verified) holds(ctx context.Context, now time.Time) (bool, error) {
	within := !now.Before(v.from) && now.Before(v.until)
	if set, err := v.issuer.Keys.Keys(ctx, false); err == nil && set.is(v.keys) {
		return within, nil
	}
	_, key, err := v.issuer.key(ctx, v.header)
	return err == nil && key.same(v.key) && within, err
}

// size is about how many bytes the claims take.
func (v *verified) size() int {
	size := len(v.header.kid) + len(v.claims.Issuer) + len(v.claims.Subject) + len(v.claims.Email)
	for _, word := range v.claims.Scope {
		size += 16 + len(word)
	}
	return size
}

// memory holds tokens whose signature was checked, by the hash of the whole token. It
// spares the check of the signature and the reading of the claims, nothing else: see
// holds. Whose a subject is and whether they may sign in is asked at each use.
//
// Refused tokens are not in it, so that nobody can fill it without tokens of a trusted
// issuer; what is found refused is taken out. Of two generations the older one is dropped
// when the newer one is full: a token that is used at least once while half as many others
// come as there is room for stays, whatever else is presented. Without it every token is
// verified. Rejected: least recently used, in which each hit writes; refused tokens, which
// would cost their sender nothing and the others their room.
type memory struct {
	half int
	// buffers are where tokens are hashed; a new copy for each would be garbage at once.
	buffers sync.Pool

	mu         sync.Mutex
	young, old map[tokenName]*verified
}

// newMemory makes one for so many tokens; nil, which holds none, for less than two.
func newMemory(tokens int) *memory {
	if tokens < 2 {
		return nil
	}
	return &memory{
		half: tokens / 2, young: map[tokenName]*verified{}, old: map[tokenName]*verified{},
		buffers: sync.Pool{New: func() any { return new([maxTokenSize]byte) }},
	}
}

// name hashes a token of bounded size.
func (m *memory) name(token string) tokenName {
	if m == nil {
		return tokenName{}
	}
	buffer := m.buffers.Get().(*[maxTokenSize]byte)
	defer m.buffers.Put(buffer)
	return sha256.Sum256(buffer[:copy(buffer[:], token)])
}

// get gives what is known of the token; nil is nothing.
func (m *memory) get(name tokenName) *verified {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if v := m.young[name]; v != nil {
		return v
	}
	v := m.old[name]
	if v != nil {
		delete(m.old, name)
		m.add(name, v)
	}
	return v
}

// keep remembers the token, unless it says too much.
func (m *memory) keep(name tokenName, v *verified) {
	if m == nil || v.size() > maxRemembered {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.old, name)
	m.add(name, v)
}

// add puts the token among the young. The lock is held.
func (m *memory) add(name tokenName, v *verified) {
	if m.young[name] == nil && len(m.young) >= m.half {
		m.young, m.old = m.old, m.young
		clear(m.young)
	}
	m.young[name] = v
}

// forget takes the token out, if it is still known as v.
func (m *memory) forget(name tokenName, v *verified) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, generation := range []map[tokenName]*verified{m.young, m.old} {
		if generation[name] == v {
			delete(generation, name)
		}
	}
}
