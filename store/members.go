package store

import (
	"encoding/json"
	"reflect"
	"strings"
)

// membersOf returns the names of the members that the JSON of a struct can have, in lower case: the decoder takes them in
// any case. It returns nil for another type.
func membersOf(t reflect.Type) map[string]bool {
	if t.Kind() != reflect.Struct {
		return nil
	}
	names := map[string]bool{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		names[strings.ToLower(name)] = true
	}
	return names
}

// keep returns a new body with those members of the former one that T does not have. A newer release has written them:
// while both run, a change by the older one must not take them away.
func (c Collection[T]) keep(body, former []byte) ([]byte, error) {
	if c.members == nil || former == nil {
		return body, nil
	}
	var kept map[string]json.RawMessage
	if err := json.Unmarshal(former, &kept); err != nil {
		return nil, err
	}
	for name := range kept {
		if c.members[strings.ToLower(name)] {
			delete(kept, name)
		}
	}
	if len(kept) == 0 {
		return body, nil
	}
	further, err := marshal(kept)
	if err != nil || string(body) == "{}" {
		return further, err
	}
	return append(append(body[:len(body)-1:len(body)-1], ','), further[1:]...), nil
}
