package rolecache

import "reflect"

// KeyName returns the name of a value in the second level.
func KeyName(kind, generation, account string, revision int64, id string) string {
	r := &remote{format: factsFormat()}
	return r.name(key{generation: generation, account: account, revision: revision, id: id}, kind)
}

// Knows reports whether the cache has the account's revision.
func (c *Cache) Knows(account string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, ok := c.revisions[account]
	return ok
}

// SetFormat sets the format of another release.
func (c *Cache) SetFormat(other string) { c.remote.format = other }

// FormatOf is formatOf.
func FormatOf(version int, stored ...reflect.Type) string { return formatOf(version, stored...) }
