package wire

import (
	"maps"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// Query is a request's query, read parameter by parameter; like Object it notes
// every problem, parameters sent twice and unknown ones included.
type Query struct {
	values   url.Values
	asked    map[string]bool
	problems *Problems
}

// ParseQuery reads the query string.
func (r *Request) ParseQuery(p *Problems) *Query {
	values, err := url.ParseQuery(r.Query)
	if err != nil {
		p.Add("query", "is not a valid query string")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if len(values[name]) > 1 {
			p.Add(clip(name), "must be sent once")
		}
	}
	return &Query{values: values, asked: map[string]bool{}, problems: p}
}

// Text gives a parameter, "" where it is absent or empty.
func (q *Query) Text(name string) string {
	q.asked[name] = true
	return q.values.Get(name)
}

// ID gives a parameter that must be a plain identifier; "" where it is absent.
func (q *Query) ID(name string) string {
	s := q.Text(name)
	if s != "" && !resources.ValidID(s) {
		q.problems.Add(name, "must be 1 to 128 characters of [A-Za-z0-9._@-]")
		return ""
	}
	return s
}

// OneOf gives a parameter with a fixed set of values; fallback where it is absent.
func (q *Query) OneOf(name, fallback string, allowed ...string) string {
	q.asked[name] = true
	if !q.values.Has(name) {
		return fallback
	}
	s := q.values.Get(name)
	for _, a := range allowed {
		if s == a {
			return s
		}
	}
	q.problems.Add(name, "must be one of %s", strings.Join(allowed, ", "))
	return fallback
}

// Int gives a whole number within bounds; fallback where it is absent.
func (q *Query) Int(name string, fallback, least, most int) int {
	q.asked[name] = true
	if !q.values.Has(name) {
		return fallback
	}
	s := q.values.Get(name)
	n, err := strconv.Atoi(s)
	if err != nil || strconv.Itoa(n) != s || n < least || n > most {
		q.problems.Add(name, "must be a whole number from %d to %d", least, most)
		return fallback
	}
	return n
}

// Done notes every parameter that nothing asked for.
func (q *Query) Done() {
	var unknown []string
	for name := range q.values {
		if !q.asked[name] {
			unknown = append(unknown, name)
		}
	}
	sort.Strings(unknown)
	for _, name := range unknown {
		q.problems.Add(clip(name), "unknown query parameter")
	}
}
