package authzen

import (
	"context"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Metadata answers `GET /.well-known/authzen-configuration`, and the same with the path of the base behind it, where
// clients look for it (Authorization API 1.0, 9.2).
type Metadata struct {
	// Base is the clients' URL of the gateway, without a slash at its end; without it there is no document. A client
	// compares it with the URL it called, so no header of a request may choose it.
	Base string
}

// document is the metadata of a policy decision point (Authorization API 1.0, 9.1).
type document struct {
	PolicyDecisionPoint string `json:"policy_decision_point"`
	Evaluation          string `json:"access_evaluation_endpoint"`
	Evaluations         string `json:"access_evaluations_endpoint"`
	SearchSubject       string `json:"search_subject_endpoint"`
	SearchResource      string `json:"search_resource_endpoint"`
	SearchAction        string `json:"search_action_endpoint"`
}

// Answer implements doors.Door: 404 without a base, and for another path than the base's.
func (m Metadata) Answer(_ context.Context, c doors.Call) (doors.Answer, error) {
	problems := slices.Concat(c.Problems, doors.OddHeaders(c.Headers, "X-User-ID", "X-Account-ID", "X-Action", "Authorization", "X-API-Key"))
	for field, sent := range map[string]bool{"body": len(c.Body) > 0 || c.Encoded, "query": c.HasQuery} {
		if sent {
			problems = append(problems, resources.Problem{Field: field, Text: "must not be sent"})
		}
	}
	switch {
	case len(problems) > 0:
		return doors.Answer{}, resources.BadRequest(problems...)
	case m.Base == "":
		return doors.Answer{}, resources.NotFound("document: the gateway does not know under which URL its clients reach it (--public-url)")
	case c.Path != "" && c.Path != m.path():
		return doors.Answer{}, resources.NotFound("document: it is that of --public-url")
	}
	body, err := wire.Render(document{
		m.Base, m.Base + pathEvaluation, m.Base + pathEvaluations, m.Base + pathSearch + "subject", m.Base + pathSearch + "resource", m.Base + pathSearch + "action",
	})
	return doors.Answer{Status: 200, Body: body}, err
}

// path returns the base's path without its first slash.
func (m Metadata) path() string {
	_, host, _ := strings.Cut(m.Base, "://")
	_, path, _ := strings.Cut(host, "/")
	return path
}

// The paths of the API below its base (Authorization API 1.0, 10.1).
const (
	pathEvaluation  = "/access/v1/evaluation"
	pathEvaluations = "/access/v1/evaluations"
	pathSearch      = "/access/v1/search/"
)
