package records

import (
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
)

// Shared is a kind of facts in common for many users of an account.
type Shared string

// The kinds of what users share. An id of its own names each.
const (
	SharedAccount Shared = "account"
	SharedRole    Shared = "role"
	SharedGroup   Shared = "group" // the roles of its members through it
	SharedProject Shared = "project"
	// The id of the agent of a client, "" for none; an agent with its roles, nil for none; a delegation, nil for none.
	SharedClient     Shared = "client"
	SharedAgent      Shared = "agent"
	SharedDelegation Shared = "delegation"
)

// Invented reports whether a client of the API could invent the id of such a value: caches leave it out.
func Invented(v any) bool {
	switch v := v.(type) {
	case string:
		return v == "" || v == resources.ProjectAbsent
	case *resources.Subject:
		return v == nil
	case *resources.Delegation:
		return v == nil
	}
	return false
}

// ReadThrough is a read-through cache of what users of an account share at one revision. It returns the results for several
// ids of a kind, in their order: those of earlier reads, and that of read for all others. Callers do not change the
// results. An error is not cached, nor the result of a read in a view that fails.
type ReadThrough func(kind Shared, ids []string, read func(missing []string) ([]any, error)) ([]any, error)

// ReadOnce caches for one snapshot: thousands of assignments can be of a few roles.
func ReadOnce() ReadThrough {
	type name struct {
		kind Shared
		id   string
	}
	results := map[name]any{}
	return NewReadThrough(
		func(kind Shared, id string) (v any, ok bool) { v, ok = results[name{kind, id}]; return v, ok },
		func(kind Shared, id string, v any) { results[name{kind, id}] = v },
	)
}

// NewReadThrough returns the cache that looks results up and keeps them so.
func NewReadThrough(get func(kind Shared, id string) (v any, ok bool), put func(kind Shared, id string, v any)) ReadThrough {
	return func(kind Shared, ids []string, read func([]string) ([]any, error)) ([]any, error) {
		out, missing, places := make([]any, len(ids)), []string(nil), []int(nil)
		for i, id := range ids {
			v, ok := get(kind, id)
			if out[i] = v; !ok {
				missing, places = append(missing, id), append(places, i)
			}
		}
		if len(missing) == 0 {
			return out, nil
		}
		list, err := read(missing)
		if err != nil {
			return nil, err
		}
		for j, i := range places {
			out[i] = list[j]
			put(kind, ids[i], list[j])
		}
		return out, nil
	}
}

// readThrough reads through the cache if there is one. It returns the results by their ids, without "".
func readThrough[T any](cache ReadThrough, kind Shared, ids []string, read func(missing []string) (map[string]T, error)) (map[string]T, error) {
	asked := make([]string, 0, len(ids))
	for _, id := range ids {
		if id != "" {
			asked = append(asked, id)
		}
	}
	slices.Sort(asked)
	asked = slices.Compact(asked)
	switch {
	case len(asked) == 0:
		return nil, nil
	case cache == nil:
		return read(asked)
	}
	list, err := cache(kind, asked, func(missing []string) ([]any, error) {
		read, err := read(missing)
		if err != nil {
			return nil, err
		}
		all := make([]any, len(missing))
		for i, id := range missing {
			all[i] = read[id]
		}
		return all, nil
	})
	if err != nil {
		return nil, err
	}
	out := make(map[string]T, len(asked))
	for i, id := range asked {
		out[id] = list[i].(T)
	}
	return out, nil
}
