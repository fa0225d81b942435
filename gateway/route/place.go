package route

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// stated is the position of the place in the paths of a row with one of its own. account and project are indices of
// values, negative for none. before counts the segments up to and including the place.
type stated struct{ account, project, before int }

var (
	errPlaceOfEveryHost = errors.New("place: only a row with a host may say where its place stands")
	errPlaceTwice       = errors.New("place: account and project must be two parameters")
)

// readPlace reads the row's position of its place. Its path names no other account or project.
func (r *Row) readPlace() (*stated, error) {
	if r.Route.Host == "" {
		return nil, errPlaceOfEveryHost
	}
	out := &stated{}
	segments := strings.Split(r.Route.Path[1:], "/")
	for _, c := range [...]struct {
		title, param string
		value        *int
	}{{"account", r.Route.Place.Account, &out.account}, {"project", r.Route.Place.Project, &out.project}} {
		if *c.value = -1; c.param == "" {
			continue
		}
		name, form, ok := param(c.param)
		*c.value = slices.Index(r.Params, name)
		if !ok || form != "" || *c.value < 0 {
			return nil, fmt.Errorf("place: %s must be a parameter of the path, as {name}", c.title)
		}
		index := slices.IndexFunc(segments, func(segment string) bool { noun, _, ok := param(segment); return ok && noun == name })
		out.before = max(out.before, index+1)
	}
	if out.account == out.project {
		return nil, errPlaceTwice
	}
	return out, r.otherPlace(segments)
}

// otherPlace returns an error if the path names an account or a project other than its place.
func (r *Row) otherPlace(segments []string) error {
	place := r.Route.Place
	for i, segment := range segments[:len(segments)-1] {
		if !isPlaceWord(segment) {
			continue
		}
		title, want := "account", place.Account
		if strings.EqualFold(segment, wordProjects) {
			title, want = "project", place.Project
		}
		next := segments[i+1]
		if name, _, ok := param(next); next != "" && (!ok || "{"+name+"}" != want) {
			return fmt.Errorf("the path names the %s %s, which must be the one of place", title, next)
		}
	}
	return nil
}

// target reads the place from a path without problems and its values. No value may name a place.
func (s *stated) target(path string, values []string) (t resources.Target, problem string) {
	for _, value := range values {
		for segment := range strings.SplitSeq(value, "/") {
			if isPlaceWord(segment) {
				return resources.Target{}, "is ambiguous: accounts and projects may stand only where the row has them"
			}
		}
	}
	if s.account >= 0 {
		t.AccountID = values[s.account]
	}
	if s.project >= 0 {
		t.ProjectID = values[s.project]
	}
	t.Rest = path
	for range s.before {
		_, t.Rest, _ = strings.Cut(t.Rest, "/")
	}
	t.Resource = resourceIn(t.Rest)
	return t, ""
}
