package client_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/portcullis-authz/portcullis/gateway/client"
)

// A service asks before each of its requests, and once for itself.
func Example() {
	gateway, err := client.New(client.Options{
		URL:   "https://gateway.example",
		Token: client.StaticToken(os.Getenv("GATEWAY_TOKEN")), // portcullis token --service widgets --scope authz:check
	})
	if err != nil {
		log.Fatal(err)
	}

	decision, err := gateway.Check(context.Background(), client.Question{
		User: "user-ada-v1", Account: "acct-acme-v1", Action: "project:instance:create",
		Path: "accounts/acct-acme-v1/projects/proj-web-v1/instances",
	})
	if err != nil {
		log.Print(err) // the decision denies
	}
	fmt.Println(decision.Allowed, decision.Reason)

	for user, err := range gateway.Subjects(context.Background(), client.Search{Evaluation: client.Evaluation{
		Subject:  client.Subject{Type: client.TypeUser},
		Action:   client.Action{Name: "project:instance:delete"},
		Resource: client.Resource{Type: "project", ID: "proj-web-v1", Properties: map[string]any{"account_id": "acct-acme-v1"}},
	}}) {
		if err != nil {
			log.Fatal(err) // what came before it is not all
		}
		fmt.Println(user.ID)
	}

	signedIn := func(r *http.Request) (string, error) {
		session, err := r.Cookie("session")
		if err != nil {
			return "", client.ErrNoUser
		}
		return userOf(session.Value), nil
	}
	widgets := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "widgets, since", client.DecisionOf(r.Context()).Reason)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:7000", gateway.Guard(client.ByCatalogue(signedIn), widgets)))
}

// A service behind the gateway checks that a request came through it.
func ExampleVerifier() {
	gateway, err := client.NewVerifier(client.VerifierOptions{
		KeysURL: "http://127.0.0.1:9002/assertions/jwks.json", Audience: "widgets",
		Action: func(r *http.Request) string { // as the rows of the catalogue say
			if r.Method == http.MethodGet {
				return "project:widget:read"
			}
			return "project:widget:update"
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	widgets := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, _ := client.CallerOf(r.Context())
		fmt.Fprintln(w, "widgets of", caller.Account, "for", caller.ID)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:7000", gateway.Behind(1<<20, widgets)))
}

// userOf is the service's own: who has this session.
func userOf(session string) string { return session }
