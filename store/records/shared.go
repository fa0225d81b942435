package records

// Shared is a kind of what the facts of many users of an account rest on.
type Shared string

// What users share, each named by its own id.
const (
	SharedAccount Shared = "account"
	SharedRole    Shared = "role"
	SharedGroup   Shared = "group" // the roles that its members hold through it
	SharedProject Shared = "project"
)

// Keep gives what read gives, or what it gave for the same kind and id in a snapshot of the same revision of
// the account. Nobody changes what it is given; an error is not kept, nor what was read in a view that fails.
type Keep func(kind Shared, id string, read func() (any, error)) (any, error)

// readOnce keeps what is read for one user: thousands of assignments can be of a few roles.
func readOnce() Keep {
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

// kept reads through keep where there is one.
func kept[T any](keep Keep, kind Shared, id string, read func() (T, error)) (T, error) {
	if keep == nil {
		return read()
	}
	v, err := keep(kind, id, func() (any, error) { return read() })
	if err != nil {
		var none T
		return none, err
	}
	return v.(T), nil
}
