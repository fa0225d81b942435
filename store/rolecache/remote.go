package rolecache

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/portcullis-authz/portcullis/resources"
)

// Remote is a level of the cache that replicas share. It may lose whatever it likes and
// bring back whatever it was given once: every value is of one revision, for ever. What it
// can't do is make a value of its own, since each is authenticated.
type Remote interface {
	// Get gives the values of the keys, in their order, nil for one that is not there. An
	// error is nothing more than values that are not there.
	Get(ctx context.Context, keys ...string) ([][]byte, error)
	// Set keeps values for a time, at best.
	Set(ctx context.Context, values map[string][]byte)
}

// What becomes of a look into the remote level; labels for counting.
const (
	RemoteHit  = "hit"
	RemoteMiss = "miss"
	// RemoteForged is a value that this installation did not make under that key: somebody
	// else writes there.
	RemoteForged = "forged"
	RemoteDown   = "down"
)

// remote is the second level with what values are authenticated by.
type remote struct {
	Remote
	keys    [][]byte
	observe func(result string)
}

// kinds of remote values.
const (
	kindSubject = "s"
	kindProject = "p"
)

// name is the key of a value. Lengths keep any two keys apart; the format keeps out what a
// release with other facts has stored.
func (k key) name(kind string) string {
	return "az1:" + format + ":" + kind + ":" + part(k.generation) + ":" + part(k.account) + ":" + strconv.FormatInt(k.revision, 10) + ":" + part(k.id)
}

func part(s string) string { return strconv.Itoa(len(s)) + ":" + s }

// seal authenticates a value under its key, with the first of the secrets.
func (r *remote) seal(name string, value any) []byte {
	body, err := json.Marshal(value)
	if err != nil {
		panic("rolecache: facts can't fail to render: " + err.Error())
	}
	return append(mac(r.keys[0], name, body), body...)
}

// open reads a value that one of the secrets authenticates under its key.
func (r *remote) open(name string, sealed []byte, into any) bool {
	if len(sealed) < sha256.Size {
		return false
	}
	for _, secret := range r.keys {
		if hmac.Equal(mac(secret, name, sealed[sha256.Size:]), sealed[:sha256.Size]) {
			return json.Unmarshal(sealed[sha256.Size:], into) == nil
		}
	}
	return false
}

func mac(secret []byte, name string, body []byte) []byte {
	h := hmac.New(sha256.New, secret)
	fmt.Fprintf(h, "%d:%s", len(name), name)
	h.Write(body)
	return h.Sum(nil)
}

// facts looks for all of what a question rests on, in one round trip; half of it is
// nothing.
func (r *remote) facts(ctx context.Context, k key, project string) (facts resources.Facts, ok bool) {
	names := []string{k.name(kindSubject)}
	if project != "" {
		p := k
		p.id = project
		names = append(names, p.name(kindProject))
	}
	values, err := r.Get(ctx, names...)
	if err != nil || len(values) != len(names) {
		r.observe(RemoteDown)
		return resources.Facts{}, false
	}
	for _, v := range values {
		if v == nil {
			r.observe(RemoteMiss)
			return resources.Facts{}, false
		}
	}
	facts = resources.Facts{Revision: k.revision, Subject: &resources.Subject{}}
	ok = r.open(names[0], values[0], facts.Subject) && facts.Subject.AccountID == k.account && facts.Subject.UserID == k.id
	if ok && project != "" {
		ok = r.open(names[1], values[1], &facts.ProjectState)
	}
	if !ok {
		r.observe(RemoteForged)
		return resources.Facts{}, false
	}
	r.observe(RemoteHit)
	return facts, true
}

// keep stores the values under the revision of which they are.
func (r *remote) keep(ctx context.Context, k key, project string, facts resources.Facts) {
	name := k.name(kindSubject)
	values := map[string][]byte{name: r.seal(name, facts.Subject)}
	if project != "" {
		k.id = project
		name = k.name(kindProject)
		values[name] = r.seal(name, facts.ProjectState)
	}
	r.Set(ctx, values)
}
