package clienttest

import (
	"net/http"
	"strconv"

	"github.com/portcullis-authz/portcullis/gateway/client"
)

// search is the body of a search.
type search struct {
	client.Evaluation
	Page struct {
		Limit int    `json:"limit"`
		Token string `json:"token"`
	} `json:"page"`
}

func (g *Gateway) subjects(w http.ResponseWriter, r *http.Request) {
	find(g, w, r, g.Subjects, func(e *client.Evaluation, s client.Subject) bool {
		ok := e.Subject.Type == s.Type
		e.Subject = s
		return ok
	})
}

func (g *Gateway) resources(w http.ResponseWriter, r *http.Request) {
	find(g, w, r, g.Resources, func(e *client.Evaluation, one client.Resource) bool {
		ok := e.Resource.Type == one.Type
		e.Resource = one
		return ok
	})
}

func (g *Gateway) actions(w http.ResponseWriter, r *http.Request) {
	find(g, w, r, g.Actions, func(e *client.Evaluation, a client.Action) bool {
		e.Action = a
		return true
	})
}

// defaultLimit is how many results a page has where the client does not say.
const defaultLimit = 100

// find answers one page of the candidates that are allowed; its token is the place of the next
// candidate. with puts a candidate into the question.
func find[T any](g *Gateway, w http.ResponseWriter, r *http.Request, all []T, complete func(*client.Evaluation, T) bool) {
	var body search
	if !read(w, r, &body) {
		return
	}
	limit, start := defaultLimit, 0
	if body.Page.Limit > 0 {
		limit = body.Page.Limit
	}
	if body.Page.Token != "" {
		var err error
		if start, err = strconv.Atoi(body.Page.Token); err != nil || start < 0 || start > len(all) {
			refuse(w, http.StatusBadRequest)
			return
		}
	}
	results, next := []T{}, ""
	for ; start < len(all); start++ {
		if len(results) == limit {
			next = strconv.Itoa(start)
			break
		}
		e := body.Evaluation
		if complete(&e, all[start]) && g.decide(e) {
			results = append(results, all[start])
		}
	}
	answer(w, map[string]any{"results": results, "page": map[string]any{"next_token": next}})
}
