package wire

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// Query is the query of a request, read parameter by parameter. Its getters add
// problems to Problems.
type Query struct {
	values   url.Values
	read     map[string]bool // the names that a getter was called with
	problems *Problems
}

// ParseQuery parses the query string. A parameter that is sent twice is a problem.
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
	return &Query{values: values, read: map[string]bool{}, problems: p}
}

// Text returns a parameter, "" if it is absent or empty.
func (q *Query) Text(name string) string {
	q.read[name] = true
	return q.values.Get(name)
}

// ID returns a parameter and requires a plain identifier, "" if it is absent.
func (q *Query) ID(name string) string {
	s := q.Text(name)
	if s != "" && !resources.ValidID(s) {
		q.problems.Add(name, resources.IDRule)
		return ""
	}
	return s
}

// Has reports whether the parameter was sent, with any value.
func (q *Query) Has(name string) bool {
	q.read[name] = true
	return q.values.Has(name)
}

// Time returns an RFC 3339 date-time, 0 if it is absent.
func (q *Query) Time(name string) resources.Time {
	if !q.Has(name) {
		return 0
	}
	t, problem := parseTime(q.values.Get(name))
	if problem != "" {
		q.problems.Add(name, "%s", problem)
	}
	return t
}

// OneOf returns a parameter that must be one of allowed. It returns fallback for an absent
// parameter and for a wrong one.
func (q *Query) OneOf(name, fallback string, allowed ...string) string {
	q.read[name] = true
	if !q.values.Has(name) {
		return fallback
	}
	s := q.values.Get(name)
	if slices.Contains(allowed, s) {
		return s
	}
	q.problems.Add(name, "must be one of %s", strings.Join(allowed, ", "))
	return fallback
}

// Int returns a whole number from least to most. It returns fallback for an absent parameter
// and for a wrong one.
func (q *Query) Int(name string, fallback, least, most int) int {
	q.read[name] = true
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

// Wait returns a time to wait: whole seconds from 0s to 30s, 0 if it is absent.
func (q *Query) Wait(name string) time.Duration {
	text := q.Text(name)
	if !q.Has(name) {
		return 0
	}
	d, err := time.ParseDuration(strings.TrimSuffix(text, "s") + "s")
	if err != nil || d < 0 || d > 30*time.Second || d != d.Truncate(time.Second) {
		q.problems.Add(name, "must be whole seconds from 0s to 30s")
		return 0
	}
	return d
}

// Done adds a problem for every parameter that no getter has read. It is called after all
// getters.
func (q *Query) Done() {
	for _, name := range slices.Sorted(maps.Keys(q.values)) {
		if !q.read[name] {
			q.problems.Add(clip(name), "unknown query parameter")
		}
	}
}
