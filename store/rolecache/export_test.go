package rolecache

// KeyName is the name of a value in the level that replicas share.
func KeyName(kind, generation, account string, revision int64, id string) string {
	return key{generation: generation, account: account, revision: revision, id: id}.name(kind)
}

// Knows says whether the account's revision is known.
func (c *Cache) Knows(account string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, known := c.revisions[account]
	return known
}

// SetFormat makes this process another release, until it is undone.
func SetFormat(other string) (undo func()) {
	own := format
	format = other
	return func() { format = own }
}

// FormatOf names a version and the structure of types.
var FormatOf = formatOf
