package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// Ask makes the question of a request. An empty subject id, or ErrNoUser, is a request without a user.
type Ask func(*http.Request) (Evaluation, error)

// ErrNoUser is the error of a request that nobody is known to have sent: 401.
var ErrNoUser = errors.New("client: the request has no user")

// The types of AuthZEN that the gateway knows by itself.
const (
	TypeUser  = "user"
	TypePath  = "path"
	TypeRoute = "route"
)

// ByCatalogue asks whether the user may make the request: the action is that of the gateway's
// catalogue for its method and path. A row with a host is not found, and one without an action denies.
// user returns the id of the user whom the service has authenticated.
func ByCatalogue(user func(*http.Request) (string, error)) Ask { return ByCatalogueOf("", user) }

// ByCatalogueOf is ByCatalogue for a service whose rows have a host. It is the service's own name: by the Host header a
// client would choose among the rows of all hosts.
func ByCatalogueOf(host string, user func(*http.Request) (string, error)) Ask {
	return func(r *http.Request) (Evaluation, error) {
		id, err := user(r)
		if err != nil {
			return Evaluation{}, err
		}
		path, _, _ := strings.Cut(r.RequestURI, "?") // as it was sent: r.URL may be decoded, or cut by a mux
		if !strings.HasPrefix(path, "/") {
			return Evaluation{}, errTarget
		}
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		resource := Resource{Type: TypeRoute, ID: path}
		if host != "" {
			resource.Properties = map[string]any{"host": host}
		}
		return Evaluation{Subject: Subject{Type: TypeUser, ID: id}, Action: Action{Name: method}, Resource: resource}, nil
	}
}

// ByAction asks whether the user may do the action at the path that the function names, as in a
// Question.
func ByAction(user func(*http.Request) (string, error), route func(*http.Request) (action, path string, err error)) Ask {
	return func(r *http.Request) (Evaluation, error) {
		id, err := user(r)
		if err != nil {
			return Evaluation{}, err
		}
		action, path, err := route(r)
		if err != nil {
			return Evaluation{}, err
		}
		return Evaluation{Subject: Subject{Type: TypeUser, ID: id}, Action: Action{Name: action}, Resource: Resource{Type: TypePath, ID: path}}, nil
	}
}

var errTarget = errors.New("client: the request's target is not a path; it must begin with a slash")

// decisionKey is the key of the decision in a request's context.
type decisionKey struct{}

// DecisionOf returns the decision by which Guard let the request in; the zero one denies.
func DecisionOf(ctx context.Context) Decision {
	d, _ := ctx.Value(decisionKey{}).(Decision)
	return d
}

// Guard returns a handler that asks before each request, and hands only allowed ones to next. It answers 401 without a
// user, 403 for a denial or a request it can't ask about, and 503 without a decision.
func (c *Client) Guard(ask Ask, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		question, err := ask(r)
		switch {
		case errors.Is(err, ErrNoUser), err == nil && question.Subject.ID == "":
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, "UNAUTHORIZED", "The request has no user.")
			return
		case err != nil:
			refuse(w, http.StatusForbidden, "FORBIDDEN", "It can't be said whether this is allowed.")
			return
		}
		decision, err := c.Evaluate(r.Context(), question)
		var answered *Error
		switch {
		case errors.As(err, &answered) && answered.Status == http.StatusBadRequest: // a path that nobody may use
			refuse(w, http.StatusForbidden, "FORBIDDEN", "It can't be said whether this is allowed.")
		case err != nil:
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusServiceUnavailable, "UNAVAILABLE", "The decision could not be made now; try again.")
		case !decision.Allowed:
			refuse(w, http.StatusForbidden, "FORBIDDEN", "This is not allowed.", decision.Reason)
		default:
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), decisionKey{}, decision)))
		}
	})
}

// refuse answers in the gateway's shape.
func refuse(w http.ResponseWriter, status int, code, message string, details ...string) {
	type text struct {
		Code    string   `json:"code"`
		Message string   `json:"message"`
		Details []string `json:"details,omitempty"`
	}
	body, err := json.Marshal(map[string]text{"error": {code, message, details}})
	if err != nil {
		body = nil // of strings it can't fail
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone needs no answer
}
