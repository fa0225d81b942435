package message

import (
	"errors"
	"fmt"
)

// listed holds the name of the result's member with the items, and of the item's member with its name. An item must spell
// the members as they are here: a client may ignore case, and a definition does not.
type listed struct {
	member, name string
	members      []string
}

var lists = map[string]listed{
	MethodTools:     {"tools", "name", []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"}},
	MethodPrompts:   {"prompts", "name", []string{"name"}},
	MethodResources: {"resources", "uri", []string{"uri"}},
	MethodTemplates: {"resourceTemplates", "uriTemplate", []string{"uriTemplate"}},
}

var (
	// ErrNoList is returned by ReadList for an error response.
	ErrNoList = errors.New("the response is an error")
	// ErrNoItems is returned by ReadList for a result without the method's items.
	ErrNoItems = errors.New("the result is no such list")
)

// List is a server's response to a list method.
type List struct {
	Items []Item
	// Cursor is the nextCursor, or "" on the last page.
	Cursor string

	body   []byte
	names  map[string]bool
	result resultPlaces
}

// Item is an item of a list. Raw points into the response.
type Item struct {
	Place
	// Name is the name of a tool or a prompt, the URI of a resource or the template of resources.
	Name string
	Raw  []byte
}

// resultPlaces are places in a response: its result, and the hints for caches in it.
type resultPlaces struct {
	present    bool
	result     Place
	empty      bool
	ttl, scope Place // the zero value if it is absent
	// interim is true if the result asks for input. Such a result has no hints.
	interim bool
}

// ReadList parses the response to a list method, of at most MaxAnswer bytes. It returns an error if clients could read the
// response differently: duplicate names or members, an item without a name or of another type.
func ReadList(method string, body []byte) (*List, error) {
	kind, ok := lists[method]
	if !ok {
		return nil, fmt.Errorf("%s is not a method of lists", clip(method))
	}
	l, items := &List{body: body, names: map[string]bool{}}, false
	places, err := readResult(body, []string{kind.member, "nextCursor"}, func(w *walk, name string) (err error) {
		switch name {
		case kind.member:
			items = true
			return w.array(func() error { return l.item(w, kind) })
		case "nextCursor":
			if w.kind() == 'n' {
				return w.skip()
			}
			l.Cursor, err = w.text()
			return err
		}
		return w.skip()
	})
	switch {
	case err != nil:
		return nil, err
	case !places.present:
		return nil, ErrNoList
	case !items:
		return nil, fmt.Errorf("%w: it has no %s", ErrNoItems, kind.member)
	}
	l.result = places
	return l, nil
}

// item reads an item. It rejects a second one with the same name.
func (l *List) item(w *walk, kind listed) error {
	var name string
	place, err := w.object(kind.members, func(n string) (err error) {
		if n != kind.name {
			return w.skip()
		}
		name, err = w.text()
		return err
	})
	switch {
	case err != nil:
		return err
	case name == "":
		return fmt.Errorf("an item has no %s", kind.name)
	case l.names[name]:
		return fmt.Errorf("two items are named %q", clip(name))
	}
	l.names[name] = true
	l.Items = append(l.Items, Item{place, name, w.body[place.Start:place.End]})
	return nil
}

// Write returns the response with the items for which keep is true, in order and byte for byte, and forbids caching as
// Uncached does.
func (l *List) Write(era Era, keep func(Item) bool) []byte {
	var edits []edit
	kept, end := false, 0
	for i, item := range l.Items {
		cut := Place{item.Start, item.End}
		if i > 0 && kept {
			cut.Start = end // with the comma before the item
		}
		end = item.End
		switch {
		case keep(item):
			kept = true
			continue
		case !kept && i+1 < len(l.Items):
			cut.End = l.Items[i+1].Start // with the comma after it
		}
		edits = append(edits, edit{cut, nil})
	}
	return splice(l.body, append(edits, l.result.uncached(era, l.body)...))
}

// Uncached sets ttlMs to 0 and cacheScope to private, and keeps all other bytes. It adds absent hints in the modern era
// only, and never to a result that asks for input. It returns an error response unchanged.
func Uncached(era Era, body []byte) ([]byte, error) {
	places, err := readResult(body, nil, func(w *walk, _ string) error { return w.skip() })
	if err != nil || !places.present {
		return body, err
	}
	return splice(body, places.uncached(era, body)), nil
}

// uncached returns the edits that forbid caching.
func (p resultPlaces) uncached(era Era, body []byte) []edit {
	var edits []edit
	var added []byte
	set := func(place Place, name, value string) {
		switch {
		case place == Place{} && (era != Modern || p.interim):
		case place == Place{}:
			if len(added) > 0 || !p.empty {
				added = append(added, ',')
			}
			added = append(append(quote(added, name), ':'), value...)
		case string(body[place.Start:place.End]) != value:
			edits = append(edits, edit{place, []byte(value)})
		}
	}
	set(p.ttl, "ttlMs", "0")
	set(p.scope, "cacheScope", `"private"`)
	if len(added) > 0 {
		edits = append(edits, edit{Place{p.result.End - 1, p.result.End - 1}, added})
	}
	return edits
}

// readResult parses a response. read reads each member of the result except the hints for caches. names are the members
// that read knows.
func readResult(body []byte, names []string, read func(w *walk, name string) error) (resultPlaces, error) {
	p := resultPlaces{empty: true}
	w, err := newWalk(body)
	if err != nil {
		return p, err
	}
	failed := false
	hint := func(dst *Place) (err error) { *dst, err = w.value(); return err }
	names = append([]string{"resultType", "ttlMs", "cacheScope"}, names...)
	_, err = w.object(envelopeNames, func(name string) (err error) {
		switch name {
		case "result":
			p.present = true
			p.result, err = w.object(names, func(name string) error {
				p.empty = false
				switch name {
				case "ttlMs":
					return hint(&p.ttl)
				case "cacheScope":
					return hint(&p.scope)
				case "resultType":
					kind, err := w.text()
					p.interim = kind == resultInput
					return err
				}
				return read(w, name)
			})
			return err
		case "error":
			failed = true
		}
		return w.skip()
	})
	switch {
	case err != nil:
		return p, err
	case p.present == failed:
		return p, errNotMessage
	}
	return p, w.end()
}
