package records

// Shared is a kind of facts that many users of an account share.
type Shared string

// The kinds of what users share. An id of its own names each.
const (
	SharedAccount Shared = "account"
	SharedRole    Shared = "role"
	SharedGroup   Shared = "group" // the roles that its members hold through it
	SharedProject Shared = "project"
)

// ReadThrough is a read-through cache of what users of an account share at one revision. It returns the
// result of read, or that of an earlier read for the same kind and id. Callers do not change the
// result. An error is not cached, nor the result of a read in a view that fails.
type ReadThrough func(kind Shared, id string, read func() (any, error)) (any, error)

// ReadOnce caches for one snapshot: thousands of assignments can be of a few roles.
func ReadOnce() ReadThrough {
	type name struct {
		kind Shared
		id   string
	}
	known := map[name]any{}
	return func(kind Shared, id string, read func() (any, error)) (any, error) {
		n := name{kind, id}
		v, ok := known[n]
		if !ok {
			var err error
			if v, err = read(); err != nil {
				return nil, err
			}
			known[n] = v
		}
		return v, nil
	}
}

// readThrough reads through the cache where there is one.
func readThrough[T any](cache ReadThrough, kind Shared, id string, read func() (T, error)) (T, error) {
	if cache == nil {
		return read()
	}
	v, err := cache(kind, id, func() (any, error) { return read() })
	if err != nil {
		var none T
		return none, err
	}
	return v.(T), nil
}
