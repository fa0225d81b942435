package rolecache

import "reflect"

// KeyName is the name of a value in the level that replicas share.
func KeyName(kind, generation, account string, revision int64, id string) string {
	r := &remote{format: factsFormat()}
	return r.name(key{generation: generation, account: account, revision: revision, id: id}, kind)
}

// Knows says whether the account's revision is known.
func (c *Cache) Knows(account string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, known := c.revisions[account]
	return known
}

// SetFormat makes the cache one of another release.
func (c *Cache) SetFormat(other string) { c.remote.format = other }

// FormatOf names a version and the structure of types.
func FormatOf(version int, stored ...reflect.Type) string { return formatOf(version, stored...) }
