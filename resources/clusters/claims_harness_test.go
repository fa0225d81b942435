package clusters_test

import (
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Two provisioners.
const worker, otherWorker = "service-worker", "service-other"

// provisioner asks a route of claims.
func (w *clustersWorld) provisioner(route, claim, subject, body string) areatest.Answer {
	w.T.Helper()
	return w.Ask(route, &wire.Request{
		Principal: resources.Principal{
			Kind: resources.PrincipalService, ID: subject, Scopes: []string{resources.ServiceScopeClusters}, Credential: resources.CredentialToken,
		},
		Params: map[string]string{"claimId": claim}, Body: []byte(body), RequestID: "rid-" + route,
	})
}

// taken is a claim.
type taken struct {
	id, kind, intent, cluster, account, lease string
	attempt                                   int
	whole                                     areatest.Answer
}

// claim claims with that body.
func (w *clustersWorld) claim(subject, body string) (out []taken) {
	w.T.Helper()
	got := w.provisioner("cluster_claim.create", "", subject, body)
	w.Expect(got, 200)
	list, ok := got.At("claims").([]any)
	if !ok {
		w.T.Fatalf("no list of claims: %s", got.Text)
	}
	for _, item := range list {
		a := areatest.Answer{Body: item.(map[string]any), Text: got.Text}
		out = append(out, taken{
			id: a.Str("claim_id"), kind: a.Str("kind"), intent: a.Str("intent"), cluster: a.Str("cluster.id") + a.Str("cluster.base.cluster_id"),
			account: a.Str("cluster.account_id") + a.Str("cluster.base.account_id"), attempt: a.Int("attempt"), lease: a.Str("lease_until"), whole: a,
		})
	}
	return out
}

// claimed1 is the one claim that there is for the kind.
func (w *clustersWorld) claimed1(k sort) taken {
	w.T.Helper()
	got := w.claim(worker, `{"kinds":["`+k.name+`"]}`)
	if len(got) != 1 {
		w.T.Fatalf("%d claims", len(got))
	}
	return got[0]
}

func (w *clustersWorld) report(claim, subject, body string) areatest.Answer {
	w.T.Helper()
	return w.provisioner("cluster_claim.update", claim, subject, body)
}
