// Client asks a gateway one thing by the client that oapi-codegen made, and prints the answer.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"client.example/portcullis"
)

const (
	account = "acct-demo-v1"
	project = "proj-demo-v1"
)

// asks are the test's cases by name. Each makes one request.
var asks = map[string]func(context.Context, *portcullis.ClientWithResponses) (any, error){
	"role list":              roleList,
	"security group":         securityGroup,
	"new security group":     newSecurityGroup,
	"refused security group": refusedSecurityGroup,
	"evaluation":             evaluation,
	"evaluations":            evaluations,
}

func main() {
	answer, err := ask(os.Args[1])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(answer)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func ask(name string) (any, error) {
	signIn := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
		return nil
	}
	client, err := portcullis.NewClientWithResponses(os.Getenv("GATEWAY"), portcullis.WithRequestEditorFn(signIn))
	if err != nil {
		return nil, err
	}
	return asks[name](context.Background(), client)
}

func roleList(ctx context.Context, c *portcullis.ClientWithResponses) (any, error) {
	r, err := c.ListRolesWithResponse(ctx, account, &portcullis.ListRolesParams{Scope: new(portcullis.PROJECT), PageSize: new(100)})
	if err != nil {
		return nil, err
	}
	if r.JSON200 == nil {
		return nil, fmt.Errorf("%s: %s", r.Status(), r.Body)
	}
	return r.JSON200, nil
}

func securityGroup(ctx context.Context, c *portcullis.ClientWithResponses) (any, error) {
	r, err := c.GetSecurityGroupWithResponse(ctx, account, project, os.Getenv("GROUP"), nil)
	if err != nil {
		return nil, err
	}
	if r.JSON200 == nil {
		return nil, fmt.Errorf("%s: %s", r.Status(), r.Body)
	}
	return r.JSON200, nil
}

func newSecurityGroup(ctx context.Context, c *portcullis.ClientWithResponses) (any, error) {
	r, err := create(ctx, c, portcullis.SecurityGroupCreate{
		ProjectId: project,
		Name:      "made by the Go client",
		Metadata:  &portcullis.Metadata{"tier": "web"},
		Rules: &[]portcullis.SecurityGroupRuleCreate{{
			Direction: portcullis.Ingress, Protocol: "tcp", PortRangeMin: new(443), PortRangeMax: new(443), RemoteIpPrefix: new("10.1.0.0/16"),
		}},
	})
	if err != nil {
		return nil, err
	}
	if r.JSON201 == nil {
		return nil, fmt.Errorf("%s: %s", r.Status(), r.Body)
	}
	return r.JSON201, nil
}

func refusedSecurityGroup(ctx context.Context, c *portcullis.ClientWithResponses) (any, error) {
	r, err := create(ctx, c, portcullis.SecurityGroupCreate{ProjectId: project, Name: ""})
	if err != nil {
		return nil, err
	}
	if r.JSON400 == nil || r.JSON400.Code != portcullis.FirewallErrorCodeBADREQUEST {
		return nil, fmt.Errorf("%s: %s", r.Status(), r.Body)
	}
	return r.JSON400, nil
}

// instance is a place in the demo project.
func instance() portcullis.AuthZENResource {
	return portcullis.AuthZENResource{
		Type: "instances", Id: "i-1", Properties: &portcullis.AuthZENProperties{AdditionalProperties: map[string]any{"project_id": project}},
	}
}

func evaluation(ctx context.Context, c *portcullis.ClientWithResponses) (any, error) {
	r, err := c.EvaluateWithResponse(ctx, nil, portcullis.AuthZENEvaluation{
		Subject: portcullis.AuthZENSubject{Type: "user", Id: "user-alice-v1"}, Action: &portcullis.AuthZENAction{Name: "project:instance:create"},
		Resource: instance(),
	})
	if err != nil {
		return nil, err
	}
	if r.JSON200 == nil {
		return nil, fmt.Errorf("%s: %s", r.Status(), r.Body)
	}
	return r.JSON200, nil
}

func evaluations(ctx context.Context, c *portcullis.ClientWithResponses) (any, error) {
	alice, bob := portcullis.AuthZENSubject{Type: "user", Id: "user-alice-v1"}, portcullis.AuthZENSubject{Type: "user", Id: "user-bob-v1"}
	r, err := c.EvaluateAllWithResponse(ctx, nil, portcullis.AuthZENEvaluations{
		Action: &portcullis.AuthZENAction{Name: "project:instance:create"}, Resource: new(instance()),
		Evaluations: &[]portcullis.AuthZENItem{{Subject: &alice}, {Subject: &bob}},
	})
	if err != nil {
		return nil, err
	}
	if r.JSON200 == nil {
		return nil, fmt.Errorf("%s: %s", r.Status(), r.Body)
	}
	return r.JSON200, nil
}

func create(ctx context.Context, c *portcullis.ClientWithResponses, g portcullis.SecurityGroupCreate) (*portcullis.CreateSecurityGroupResponse, error) {
	return c.CreateSecurityGroupWithResponse(ctx, account, project, &portcullis.CreateSecurityGroupParams{XAccountID: account}, g)
}
