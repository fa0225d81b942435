package decisions

import (
	"cmp"
	"errors"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// Search says which decisions are wanted, as texts of a command line or a URL; "" is any. Since and Until are times, or
// how long ago.
type Search struct{ ID, User, Account, Action, Place, Path, Verdict, Since, Until string }

// Filter returns the search as a filter at this time. The error joins a resources.Problem for each wrong text.
func (s *Search) Filter(now time.Time) (f decisionlog.Filter, err error) {
	f = decisionlog.Filter{ID: s.ID, User: s.User, Account: s.Account, Action: s.Action, Place: s.Place, Path: s.Path}
	switch allowed := s.Verdict == "allow"; s.Verdict {
	case "":
	case "allow", "deny":
		f.Allowed = &allowed
	default:
		err = wrong{"verdict", "must be allow or deny"}
	}
	var badSince, badUntil error
	f.Since, badSince = bound("since", s.Since, now)
	f.Until, badUntil = bound("until", s.Until, now)
	return f, errors.Join(err, badSince, badUntil)
}

// wrong is a text that a search can't have.
type wrong resources.Problem

// Error implements error.
func (w wrong) Error() string { return resources.Problem(w).String() }

// bound reads a bound of time, 0 for "".
func bound(name, text string, now time.Time) (resources.Time, error) {
	if text == "" {
		return 0, nil
	}
	if ago, err := time.ParseDuration(text); err == nil {
		return resources.At(now.Add(-ago)), nil
	}
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0, wrong{name, "must be a time as 2026-01-31T12:00:00Z, or how long ago as 90m"}
	}
	return cmp.Or(resources.At(moment), 1), nil // 0 would set no bound; nothing was decided in 1970
}
