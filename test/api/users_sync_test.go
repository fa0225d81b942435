package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestProvisionedUserIsWhatWasSent, with every field, and holds no role.
func TestProvisionedUserIsWhatWasSent(t *testing.T) {
	t.Parallel()
	p := newPeople(t)
	whole := fmt.Sprintf(`{"email":"Whole@%[1]s.example","name":"Whole","external_id":"whole-%[1]s","account_id":%[1]q,"status":"WAITLISTED","is_verified":true,`+
		`"authentication_type":"github","authentication_partner":"OIDC","authentication_partner_id":"idp|whole-%[1]s","metadata":{"$ne":{"b":1e3}},"profile_pic_url":"https://p.example/w"}`, p.Account)
	r := harness.Call(t, "POST", p.URL+"/api/v1/users", p.sync, whole)
	record, _ := harness.At(r.Body, "user").(map[string]any)
	if r.Status != 201 || !strings.Contains(string(r.Raw), `{"$ne":{"b":1e3}}`) {
		t.Fatalf("%d %s", r.Status, r.Raw)
	}
	for field, want := range map[string]any{
		"email": "Whole@" + p.Account + ".example", "name": "Whole", "external_id": "whole-" + p.Account, "account_id": p.Account, "status": "WAITLISTED", "is_verified": true,
		"authentication_type": "github", "authentication_partner": "OIDC", "authentication_partner_id": "idp|whole-" + p.Account, "profile_pic_url": "https://p.example/w",
	} {
		if record[field] != want {
			t.Errorf("%s is %v, want %v", field, record[field], want)
		}
	}
	wantSame(t, "user.find", record, p.record(t, "whole-"+p.Account))
	if roles := rolesOf(t, p.Scene, "whole-"+p.Account); len(roles) != 0 {
		t.Errorf("roles %v", roles)
	}
}
