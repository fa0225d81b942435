package rolecache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

const (
	// maxChanges is how many accounts are taken over one by one; beyond it all known
	// revisions are forgotten.
	maxChanges = 10_000
	// maxAccounts bounds the revisions that are known.
	maxAccounts = 100_000
	// fillTimeout bounds a fill, which outlives the request that began it.
	fillTimeout = 2 * time.Second
)

// errOldFill would be an engine that breaks its contract: a snapshot older than a
// revision that it had reported.
var errOldFill = errors.New("rolecache: a snapshot was older than the revision it was read for")

// key names an immutable value: id is a user or a project.
type key struct {
	generation, account string
	revision            int64
	id                  string
}

// Options bound the cache.
type Options struct {
	// Entries is how many values of each kind are kept; at least 1.
	Entries int
}

// Cache answers with facts of the current revision.
type Cache struct {
	store    store.Store
	c        store.Collections
	subjects *lru.Cache[key, *resources.Subject]
	projects *lru.Cache[key, string]
	homes    *lru.Cache[lookup, home]
	flights  singleflight.Group

	mu         sync.RWMutex
	generation string
	epoch      int64
	revisions  map[string]int64
}

// New makes an empty cache in front of the store.
func New(s store.Store, c store.Collections, o Options) (*Cache, error) {
	cache := &Cache{store: s, c: c, revisions: map[string]int64{}}
	var err error
	if cache.subjects, err = lru.New[key, *resources.Subject](o.Entries); err != nil {
		return nil, fmt.Errorf("rolecache: %w", err)
	}
	if cache.projects, err = lru.New[key, string](o.Entries); err != nil {
		return nil, fmt.Errorf("rolecache: %w", err)
	}
	if cache.homes, err = lru.New[lookup, home](o.Entries); err != nil {
		return nil, fmt.Errorf("rolecache: %w", err)
	}
	return cache, nil
}

// Facts gives what a decision about the user, the account and (where it is not "")
// the project rests on, all of one revision, at least as new as every change that was
// answered before the call. An error means that no decision can be made.
func (c *Cache) Facts(ctx context.Context, account, user, project string) (resources.Facts, error) {
	if err := c.catchUp(ctx); err != nil {
		return resources.Facts{}, err
	}
	generation, revision, err := c.revision(ctx, account)
	if err != nil {
		return resources.Facts{}, err
	}
	facts := resources.Facts{Revision: revision}
	subject, ok := c.subjects.Get(key{generation, account, revision, user})
	if ok && project != "" {
		facts.ProjectState, ok = c.projects.Get(key{generation, account, revision, project})
	}
	if ok {
		facts.Subject = subject
		return facts, nil
	}
	return c.fill(ctx, key{generation, account, revision, user}, project)
}

// fill reads one snapshot for all who ask for the same key at once; that is safe
// since the key names the revision.
func (c *Cache) fill(ctx context.Context, k key, project string) (resources.Facts, error) {
	name := fmt.Sprintf("%q %q %d %q %q", k.generation, k.account, k.revision, k.id, project)
	result := c.flights.DoChan(name, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fillTimeout)
		defer cancel()
		var facts resources.Facts
		err := c.store.View(ctx, func(tx store.Tx) (err error) {
			facts, err = c.c.LoadFacts(ctx, tx, k.account, k.id, project)
			return err
		})
		if err == nil && facts.Revision < k.revision {
			err = errOldFill
		}
		if err == nil {
			c.keep(k, project, facts)
		}
		return facts, err
	})
	select {
	case r := <-result:
		if r.Err != nil {
			return resources.Facts{}, r.Err
		}
		return r.Val.(resources.Facts), nil
	case <-ctx.Done():
		return resources.Facts{}, fmt.Errorf("%w: %w", store.ErrUnavailable, ctx.Err())
	}
}

// keep stores the values under the revision of which they are.
func (c *Cache) keep(k key, project string, facts resources.Facts) {
	k.revision = facts.Revision
	c.subjects.Add(k, facts.Subject)
	if project != "" {
		k.id = project
		c.projects.Add(k, facts.ProjectState)
	}
}
