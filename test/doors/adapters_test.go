package doors_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/must"
)

// otherwise are the rows of doors without one verdict on one question, with the package of their tests.
var otherwise = map[string]string{
	"authorization.explain": "test/api", "authzen.search_subject": "test/api", "authzen.search_resource": "test/api", "authzen.search_action": "test/api",
	"authzen.configuration": "test/api", "authzen.configuration_of_path": "test/api", "account.preview": "test/api",
	"mcp.call": "test/mcp", "mcp.resource_metadata": "test/mcp",
}

// TestEachDoorHasAnAdapter guarantees that the corpus goes through each door of the catalogue: a row of a further door needs an
// adapter in the list of doors.
func TestEachDoorHasAnAdapter(t *testing.T) {
	text := must.Get(os.ReadFile("../../policies/routes/data.json"))(t)
	var rows map[string]resources.Route
	must.Do(t, json.Unmarshal(text, &rows))
	rows["ext_authz.check"] = resources.Route{Upstream: resources.UpstreamAuthorize} // the catalogue has none of Envoy's
	for name, row := range rows {
		has := slices.ContainsFunc(doors(), func(d door) bool { return d.row == name })
		switch isDoor := row.Upstream == resources.UpstreamAuthorize; {
		case isDoor && !has && otherwise[name] == "":
			t.Errorf("no adapter asks at %s", name)
		case !isDoor && has, has && otherwise[name] != "":
			t.Errorf("%s has an adapter, and is no door that needs one", name)
		}
	}
	for _, d := range doors() {
		if _, exists := rows[d.row]; !exists && d.row != "" {
			t.Errorf("%s asks at %s, which is no row", d.name, d.row)
		}
	}
}
