package peer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/peer/assertion"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// closingPath is where a process behind gateways closes (PUT) and opens (DELETE) a
// project for one of its areas. No catalogue has it: only the gateway itself goes there.
const closingPath = "/internal/v1/areas/%s/closings/%s/%s/%s"

// closingTimeout bounds one question to an area.
const closingTimeout = 5 * time.Second

// closingAnswer bounds what is read of an area's answer in bytes.
const closingAnswer = 4 << 10

// closed is the answer of closing a project.
type closed struct {
	Occupied *bool `json:"occupied"`
}

// Projects closes and opens projects: see access.Occupant.
type Projects interface {
	CloseProject(ctx context.Context, closing resources.Closing) (occupied bool, err error)
	OpenProject(ctx context.Context, closing resources.Closing) error
}

// ClosingRoutes returns the rows and handlers of one area's closings.
func ClosingRoutes(name string, area Projects) ([]resources.Route, wire.Routes) {
	path := fmt.Sprintf(closingPath, name, "{accountId}", "{projectId}", "{mark}")
	row := func(verb, method string) resources.Route {
		return resources.Route{
			Name: name + "." + verb, Method: method, Path: path, Effect: resources.EffectWrite,
			Area: resources.AreaAccess, Upstream: name,
		}
	}
	closing, opening := row("close", http.MethodPut), row("open", http.MethodDelete)
	return []resources.Route{closing, opening}, wire.Routes{
		closing.Name: forGateways(func(ctx context.Context, c resources.Closing) (closed, error) {
			occupied, err := area.CloseProject(ctx, c)
			return closed{&occupied}, err
		}),
		opening.Name: forGateways(func(ctx context.Context, c resources.Closing) (closed, error) {
			return closed{new(bool)}, area.OpenProject(ctx, c)
		}),
	}
}

// forGateways returns a handler for the gateway's own questions.
func forGateways(do func(ctx context.Context, closing resources.Closing) (closed, error)) wire.Handler {
	return func(ctx context.Context, r *wire.Request) (wire.Response, error) {
		if r.Principal.Kind != resources.PrincipalGateway {
			return wire.Response{}, resources.Forbidden("This is for the gateway itself.")
		}
		mark, err := strconv.ParseInt(r.Params["mark"], 10, 64)
		if err != nil {
			return wire.Response{}, resources.BadRequest(resources.Problem{Field: "mark", Text: "must be a whole number"})
		}
		answer, err := do(ctx, resources.Closing{AccountID: r.Params["accountId"], ProjectID: r.Params["projectId"], Mark: mark})
		if err != nil {
			return wire.Response{}, err
		}
		return wire.OK(answer)
	}
}

// RemoteArea closes and opens projects in an area of another process.
type RemoteArea struct {
	Upstream *Upstream
	IDs      resources.IDs
}

// CloseProject asks the area; anything but a clear answer is an error.
func (a RemoteArea) CloseProject(ctx context.Context, closing resources.Closing) (occupied bool, err error) {
	answer, err := a.ask(ctx, http.MethodPut, closing)
	if err != nil {
		return false, err
	}
	return *answer.Occupied, nil
}

// OpenProject tells the area.
func (a RemoteArea) OpenProject(ctx context.Context, closing resources.Closing) error {
	_, err := a.ask(ctx, http.MethodDelete, closing)
	return err
}

// ask has the area's process close (PUT) or open (DELETE) the project, and returns its answer.
func (a RemoteArea) ask(ctx context.Context, method string, closing resources.Closing) (answer closed, err error) {
	ctx, cancel := context.WithTimeout(ctx, closingTimeout)
	defer cancel()
	area := a.Upstream.name
	resp, err := a.Upstream.ask(ctx, Call{Statement: assertion.Statement{
		RequestID: a.IDs.ULID(), Method: method, Target: fmt.Sprintf(closingPath, area, closing.AccountID, closing.ProjectID, strconv.FormatInt(closing.Mark, 10)),
		Principal: resources.Principal{Kind: resources.PrincipalGateway, ID: assertion.Issuer, Credential: resources.CredentialNone},
		Account:   closing.AccountID,
	}})
	if err != nil {
		return answer, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, closingAnswer))
	if err != nil {
		return answer, fmt.Errorf("peer: area %s: %w", area, err)
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if resp.StatusCode != http.StatusOK || dec.Decode(&answer) != nil || answer.Occupied == nil {
		return answer, fmt.Errorf("peer: area %s answered %d %.200q", area, resp.StatusCode, body)
	}
	return answer, nil
}
