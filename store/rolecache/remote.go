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

// Remote is the second level of the cache, which replicas share. It may lose a value, or return it later: a value never
// changes. It can't forge one, since each is authenticated.
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
	// RemoteForged is a value under this name from outside this installation: somebody else writes there.
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

// name returns the name of a value there. Lengths keep any two names apart; the format keeps out the values
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
func (r *remote) open(name string, sealed []byte, v any) bool {
	if len(sealed) < sha256.Size {
		return false
	}
	for _, secret := range r.keys {
		if hmac.Equal(mac(secret, name, sealed[sha256.Size:]), sealed[:sha256.Size]) {
			return json.Unmarshal(sealed[sha256.Size:], v) == nil
		}
	}
	return false
}

// mac returns the authentication code of a value under its name.
func mac(secret []byte, name string, body []byte) []byte {
	h := hmac.New(sha256.New, secret)
	fmt.Fprintf(h, "%d:%s", len(name), name)
	h.Write(body)
	return h.Sum(nil)
}

// facts returns the facts of several questions of one account, in one round trip. Facts with a missing part have no
// subject.
func (r *remote) facts(ctx context.Context, k key, pairs ...resources.About) []resources.Facts {
	out := make([]resources.Facts, len(pairs))
	var names []string
	for _, pair := range pairs {
		names = append(names, r.names(k, pair)...)
	}
	values, err := r.Get(ctx, names...)
	if err != nil || len(values) != len(names) {
		r.observe(RemoteDown)
		return out
	}
	for i, pair := range pairs {
		n := 1
		if pair.ProjectID != "" {
			n = 2
		}
		var result string
		out[i], result = r.read(k, pair, names[:n], values[:n])
		r.observe(result)
		names, values = names[n:], values[n:]
	}
	return out
}

// names returns those of the values of a question: of its subject, and of its project where there is one.
func (r *remote) names(k key, pair resources.About) []string {
	names := []string{r.name(k.named(pair.UserID), kindSubject)}
	if pair.ProjectID != "" {
		names = append(names, r.name(k.named(pair.ProjectID), kindProject))
	}
	return names
}

// read returns the facts in the values of those names, without a subject where a part is missing.
func (r *remote) read(k key, pair resources.About, names []string, values [][]byte) (facts resources.Facts, result string) {
	for _, v := range values {
		if v == nil {
			return facts, RemoteMiss
		}
	}
	subject, state := &resources.Subject{}, ""
	ok := r.open(names[0], values[0], subject) && subject.AccountID == k.account && subject.UserID == pair.UserID
	if ok && len(names) > 1 {
		ok = r.open(names[1], values[1], &state)
	}
	if !ok {
		return facts, RemoteForged
	}
	return resources.Facts{Revision: k.revision, Subject: subject, ProjectState: state}, RemoteHit
}

// put stores the values under the key with their revision. It leaves out values a client could invent.
func (r *remote) put(ctx context.Context, k key, pairs []resources.About, facts []resources.Facts) {
	values := map[string][]byte{}
	for i, pair := range pairs {
		names := r.names(k, pair)
		if lasts(facts[i].Subject) {
			values[names[0]] = r.seal(names[0], facts[i].Subject)
		}
		if len(names) > 1 && facts[i].ProjectState != resources.ProjectAbsent {
			values[names[1]] = r.seal(names[1], facts[i].ProjectState)
		}
	}
	if len(values) > 0 {
		r.Set(ctx, values)
	}
}
