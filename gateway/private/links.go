package private

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/portcullis-authz/portcullis/resources"
)

// Links makes a code with which a user signs in to the console, once. Errors are *resources.Error.
type Links func(ctx context.Context, user string) (code string, err error)

// links answers POST /console/links?user=ID for a service with console:sessions.
func (l *Listener) links(w http.ResponseWriter, r *http.Request) {
	if l.Links == nil || l.Visitors.Authn == nil {
		http.Error(w, "this process has no console; ask the gateway", http.StatusNotFound)
		return
	}
	caller, err := l.Visitors.Authn.Authenticate(r.Context(), r.Header.Values("Authorization"), nil)
	if err == nil && !caller.HasScope(resources.ServiceScopeConsole) {
		err = &resources.Error{Kind: resources.KindForbidden, Message: "links are made for a service with " + resources.ServiceScopeConsole}
	}
	var code string
	if err == nil {
		code, err = l.Links(r.Context(), r.URL.Query().Get("user"))
	}
	if err != nil {
		refuseVisitor(w, err)
		return
	}
	l.Log.Info("a link to the console was made", "user", r.URL.Query().Get("user"), "principal", caller.ID)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string]string{"code": code}) // a client that is gone needs no answer
}
