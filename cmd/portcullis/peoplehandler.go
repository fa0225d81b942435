package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/portcullis-authz/portcullis/policies/analysis/people"
	"github.com/portcullis-authz/portcullis/resources"
)

// peopleRights returns the routes that a caller must be allowed in an account to be sent its users: they tell
// their callers the same.
func peopleRights() []string { return []string{"authorization.explain", "authzen.search_subject"} }

// peopleWithin bounds an answer.
const peopleWithin = 10 * time.Minute

// peopleHandler answers GET /policy/people of the private listener: what rules read of each user whom the caller may see, for
// `policy diff`. A caller who sees no account is refused before anybody is read.
func (a *app) peopleHandler() http.HandlerFunc {
	places := newPlaces(1)
	return func(w http.ResponseWriter, r *http.Request) {
		v := a.admit(w, r, peopleRights()...)
		if v == nil {
			return
		}
		leave, entered := places.enter(w, v)
		if !entered {
			return
		}
		defer leave()
		ctx, cancel := context.WithTimeout(r.Context(), peopleWithin)
		defer cancel()
		sent, err := a.sendPeople(ctx, w, v)
		if err != nil {
			a.log.Warn("the users could not be sent", "principal", v.caller.ID, "error", err.Error())
			return
		}
		a.log.Info("users sent for a comparison of policies", "principal", v.caller.ID, "users", sent)
	}
}

// errNobody means that the accounts that the caller sees have no users.
var errNobody = errors.New("policy lets the caller explain decisions and search in no account that has users")

// sendPeople writes a line for each user whom the visitor sees. The answer begins with the first of them: 403 is that
// there is none. It returns how many were written.
func (a *app) sendPeople(ctx context.Context, w http.ResponseWriter, v *visitor) (sent int, err error) {
	hidden := false
	var out *bufio.Writer
	var encoder *json.Encoder
	facts, err := eachPerson(ctx, a.store, a.collections, resources.At(time.Now()), func(account string) (bool, error) {
		seen, err := v.sees(ctx, account, 0)
		hidden = hidden || !seen
		return seen, err
	}, func(p people.Person) error {
		if sent == 0 {
			out = bufio.NewWriter(newAnswer(w))
			encoder = json.NewEncoder(out)
		}
		sent++
		return encoder.Encode(peopleLine{Person: &p})
	})
	switch {
	case err == nil && sent == 0:
		http.Error(w, errNobody.Error(), http.StatusForbidden)
		return 0, nil
	case err != nil && sent == 0:
		http.Error(w, "the users can't be read now; ask again", http.StatusServiceUnavailable)
		return 0, err
	case err != nil:
		return sent, err // an answer without its end
	}
	return sent, errors.Join(encoder.Encode(peopleLine{End: &peopleEnd{facts, hidden}}), out.Flush())
}
