package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/policies/analysis/people"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
)

// peopleRights returns the routes that a caller must be allowed in an account to be sent its users: they tell
// their callers the same.
func peopleRights() []string { return []string{"authorization.explain", "authzen.search_subject"} }

// peopleWithin bounds an answer, so that a caller who reads slowly does not keep others out.
const peopleWithin = 10 * time.Minute

// peopleHandler answers GET /policy/people of the private listener: what rules read of each user whom the caller may see, for
// `policy diff`. Nothing is told without a credential; the policy in force says of which accounts.
func (a *app) peopleHandler() http.HandlerFunc {
	places := gate.New(1, 0)
	return func(w http.ResponseWriter, r *http.Request) {
		if a.state.authenticator == nil {
			http.Error(w, "this process knows no callers; ask the gateway", http.StatusNotFound)
			return
		}
		caller, err := a.state.authenticator.Authenticate(r.Context(), r.Header.Values("Authorization"), r.Header.Values("X-API-Key"))
		if err != nil || caller.Kind == resources.PrincipalNone || caller.Kind == "" {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "send a token that may explain decisions and search", http.StatusUnauthorized)
			return
		}
		if places.TryEnter() != nil {
			http.Error(w, "others are being told; ask again", http.StatusServiceUnavailable)
			return
		}
		defer places.Leave()
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(peopleWithin))
		sent, err := a.sendPeople(r.Context(), w, caller)
		if err != nil {
			a.log.Warn("the users could not be told", "principal", caller.ID, "error", err.Error())
			return
		}
		a.log.Info("users told for a comparison of policies", "principal", caller.ID, "users", sent)
	}
}

// errNobody means that the caller may see the users of no account.
var errNobody = errors.New("policy lets the caller explain decisions and search in no account that has users")

// sendPeople writes a line for each user whom the caller may see. The answer begins with the first of them: 403 is that
// there is none. It returns how many were written.
func (a *app) sendPeople(ctx context.Context, w http.ResponseWriter, caller resources.Principal) (sent int, err error) {
	ctx, cancel := context.WithTimeout(ctx, peopleWithin)
	defer cancel()
	hidden := false
	known := map[string]bool{}
	out := bufio.NewWriter(w)
	encoder := json.NewEncoder(out)
	facts, err := eachPerson(ctx, a.store, a.collections, resources.At(time.Now()), func(account string) (bool, error) {
		may, seen := known[account]
		if !seen {
			var err error
			if may, err = a.maySee(ctx, caller, account); err != nil {
				return false, err
			}
			known[account] = may
			hidden = hidden || !may
		}
		return may, nil
	}, func(p people.Person) error {
		if sent == 0 {
			w.Header().Set("Content-Type", "application/x-ndjson")
			w.Header().Set("Cache-Control", "no-store")
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

// maySee asks the policy in force whether the caller may explain decisions about all users of the account, and search for
// them. A tree without these routes lets nobody.
func (a *app) maySee(ctx context.Context, caller resources.Principal, account string) (bool, error) {
	judge := &verdict.Judge{Policy: a.policy, Facts: a.cache, IDs: a.ids, Now: time.Now}
	rows := map[string]resources.Route{}
	for _, row := range a.policy.Routes() {
		rows[row.Name] = row
	}
	for _, name := range peopleRights() {
		row, there := rows[name]
		if !there {
			return false, nil
		}
		route, err := verdict.NewRoute(row)
		if err != nil {
			return false, fmt.Errorf("route %s: %w", name, err)
		}
		_, err = judge.Permit(ctx, caller, verdict.Call{Route: &route, AccountID: account})
		if refused := (*resources.Error)(nil); errors.As(err, &refused) && refused.Kind == resources.KindForbidden {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}
