package private

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/portcullis-authz/portcullis/policies/compare/people"
)

// People hands over the users of the accounts for which seen is true.
type People func(ctx context.Context, seen func(account string) (bool, error), add func(people.Person) error) (people.Facts, error)

// PeopleLine is a line of a gateway's answer about its users: a person, or the revisions at the end.
type PeopleLine struct {
	Person *people.Person `json:"person,omitempty"`
	End    *PeopleEnd     `json:"end,omitempty"`
}

// PeopleEnd is the last line.
type PeopleEnd struct {
	Facts people.Facts `json:"facts"`
	// Hidden says policy hides some accounts from the caller.
	Hidden bool `json:"hidden"`
}

// peopleRights returns the routes that a caller must be allowed in an account to be sent its users: they tell
// their callers the same.
func peopleRights() []string { return []string{"authorization.explain", "authzen.search_subject"} }

// PeopleWithin bounds an answer.
const PeopleWithin = 10 * time.Minute

// people answers GET /policy/people of the private listener for `policy diff`: of each user visible to the caller, what
// rules read. A caller who sees no account is refused before any user is read.
func (l *Listener) people() http.HandlerFunc {
	places := newPlaces(1)
	return func(w http.ResponseWriter, r *http.Request) {
		v := l.Visitors.admit(w, r, peopleRights()...)
		if v == nil {
			return
		}
		leave, entered := places.enter(w, v)
		if !entered {
			return
		}
		defer leave()
		ctx, cancel := context.WithTimeout(r.Context(), PeopleWithin)
		defer cancel()
		sent, err := l.sendPeople(ctx, w, v)
		if err != nil {
			l.Log.Warn("the users could not be sent", "principal", v.caller.ID, "error", err.Error())
			return
		}
		l.Log.Info("users sent for a comparison of policies", "principal", v.caller.ID, "users", sent)
	}
}

// errNobody means that no visible account has users.
var errNobody = errors.New("policy lets the caller explain decisions and search in no account that has users")

// sendPeople writes a line for each user visible to the visitor. The answer begins with the first of them; without any
// it is 403. It returns how many were written.
func (l *Listener) sendPeople(ctx context.Context, w http.ResponseWriter, v *visitor) (sent int, err error) {
	hidden := false
	var out *bufio.Writer
	var encoder *json.Encoder
	facts, err := l.People(ctx, func(account string) (bool, error) {
		seen, err := v.sees(ctx, account, 0)
		hidden = hidden || !seen
		return seen, err
	}, func(p people.Person) error {
		if sent == 0 {
			out = bufio.NewWriter(newAnswer(w))
			encoder = json.NewEncoder(out)
		}
		sent++
		return encoder.Encode(PeopleLine{Person: &p})
	})
	switch {
	case err == nil && sent == 0:
		http.Error(w, errNobody.Error(), http.StatusForbidden)
		return 0, nil
	case err != nil && sent == 0:
		http.Error(w, "the users can't be read now; retry in a moment", http.StatusServiceUnavailable)
		return 0, err
	case err != nil:
		return sent, err // an answer without its end
	}
	return sent, errors.Join(encoder.Encode(PeopleLine{End: &PeopleEnd{facts, hidden}}), out.Flush())
}
