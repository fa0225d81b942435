package rolecache

// KeyName is the name of a value in the level that replicas share.
func KeyName(kind, generation, account string, revision int64, id string) string {
	return key{generation: generation, account: account, revision: revision, id: id}.name(kind)
}
