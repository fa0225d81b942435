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

// Remote is the second level of the cache, which replicas share. It may lose any value, and bring back
// any that it was given before: each is of one revision for ever. It cannot make one of its own,
// because each is authenticated.
type Remote interface {
	// Get returns the values of the keys in their order, nil on a miss. An error is a miss of all.
	Get(ctx context.Context, keys ...string) ([][]byte, error)
	// Set stores values for a time, if it can.
	Set(ctx context.Context, values map[string][]byte)
}

// The results of a look into the second level; labels of a metric.
const (
	RemoteHit  = "hit"
	RemoteMiss = "miss"
	// RemoteForged is a value that this installation did not store under that name: somebody else
	// writes there.
	RemoteForged = "forged"
	RemoteDown   = "down"
)

// remote is the second level, with the format and the secrets of its values.
type remote struct {
	Remote
	format  string
	keys    [][]byte
	observe func(result string)
}

// The kinds of values.
const (
	kindSubject = "s"
	kindProject = "p"
)

// name is the name of a value there. Lengths keep any two names apart; the format keeps out the values
// of a release with other facts.
func (r *remote) name(k key, kind string) string {
	return "az1:" + r.format + ":" + kind + ":" + part(k.generation) + ":" + part(k.account) + ":" + strconv.FormatInt(k.revision, 10) + ":" + part(k.id)
}

// part returns a part of a name, after its length.
func part(s string) string { return strconv.Itoa(len(s)) + ":" + s }

// seal renders a value and authenticates it under its name with the first of the secrets.
func (r *remote) seal(name string, value any) []byte {
	body, err := json.Marshal(value)
	if err != nil {
		panic("rolecache: facts can't fail to render: " + err.Error())
	}
	return append(mac(r.keys[0], name, body), body...)
}

// open reads a value. It returns false unless one of the secrets authenticates it under its name.
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

// mac is the authentication code of a value under its name.
func mac(secret []byte, name string, body []byte) []byte {
	h := hmac.New(sha256.New, secret)
	fmt.Fprintf(h, "%d:%s", len(name), name)
	h.Write(body)
	return h.Sum(nil)
}

// facts returns all facts of a question, in one round trip; ok is false where a part is missing.
func (r *remote) facts(ctx context.Context, k key, project string) (facts resources.Facts, ok bool) {
	names := []string{r.name(k, kindSubject)}
	if project != "" {
		p := k
		p.id = project
		names = append(names, r.name(p, kindProject))
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

// put stores the values under the key, which names their revision.
func (r *remote) put(ctx context.Context, k key, project string, facts resources.Facts) {
	name := r.name(k, kindSubject)
	values := map[string][]byte{name: r.seal(name, facts.Subject)}
	if project != "" {
		k.id = project
		name = r.name(k, kindProject)
		values[name] = r.seal(name, facts.ProjectState)
	}
	r.Set(ctx, values)
}
