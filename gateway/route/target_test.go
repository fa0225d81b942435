package route_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// TestTargetComesFromThePath is the table of the contract, 3.
func TestTargetComesFromThePath(t *testing.T) {
	for path, want := range map[string]resources.Target{
		"instances":               {Rest: "instances"},
		"instances/i-1":           {Rest: "instances/i-1", Resource: "instances/i-1"},
		"instances/i-1/disks/d":   {Rest: "instances/i-1/disks/d", Resource: "instances/i-1"},
		"projects":                {Rest: "projects"},
		"projects/p":              {ProjectID: "p"},
		"projects/p/instances":    {ProjectID: "p", Rest: "instances"},
		"projects/p/a/b/c":        {ProjectID: "p", Rest: "a/b/c", Resource: "a/b"},
		"accounts/a":              {AccountID: "a"},
		"accounts/a/projects":     {AccountID: "a", Rest: "projects"},
		"accounts/a/projects/p":   {AccountID: "a", ProjectID: "p"},
		"accounts/a/projects/p/x": {AccountID: "a", ProjectID: "p", Rest: "x"},
		"accounts/a/roles/r":      {AccountID: "a", Rest: "roles/r", Resource: "roles/r"},
		"api/v1":                  {},
		"api/v1/x":                {Rest: "x"},
		"api/v1/projects":         {Rest: "projects"},
		"api/v1/projects/p/x":     {ProjectID: "p", Rest: "x"},
		"api/v1/accounts/a/projects/p/x/y/z": {
			AccountID: "a", ProjectID: "p", Rest: "x/y/z", Resource: "x/y",
		},
		"api":                              {Rest: "api"},
		"api/v2/x":                         {Rest: "api/v2/x", Resource: "api/v2"},
		"api/v1/api/v1/x":                  {Rest: "api/v1/x", Resource: "api/v1"},
		"account/a":                        {Rest: "account/a", Resource: "account/a"},
		"projectsx/p":                      {Rest: "projectsx/p", Resource: "projectsx/p"},
		"accounts/A_b.c@d-1/x%20y":         {AccountID: "A_b.c@d-1", Rest: "x%20y"},
		"projects/p/files/a%20b/caf%C3%A9": {ProjectID: "p", Rest: "files/a%20b/caf%C3%A9", Resource: "files/a%20b"},
	} {
		got, problem := route.ParseTarget(path)
		if problem != "" || got != want {
			t.Errorf("%s: %+v %q, want %+v", path, got, problem, want)
		}
	}
}

// TestAmbiguousTargetsAreRefused guarantees that a word for places stands only in front of one.
func TestAmbiguousTargetsAreRefused(t *testing.T) {
	for _, path := range []string{
		"accounts", "api/v1/accounts", "Accounts/a", "ACCOUNTS/a", "aCCounts", "Projects", "PROJECTS/p", "accounts/a/Projects", "accounts/a/Projects/p",
		"projects/p/accounts/a", "projects/p/accounts", "projects/p/projects", "projects/p/projects/q", "accounts/a/accounts/b", "accounts/a/accounts",
		"accounts/accounts", "accounts/accounts/a", "accounts/projects", "accounts/projects/p", "accounts/accounts/projects", "accounts/projects/projects", "projects/accounts", "projects/accounts/a", "projects/projects", "projects/Projects/x",
		"accounts/a/x/projects/p", "accounts/a/projects/p/x/accounts/b", "x/accounts/a", "x/projects/p", "x/y/z/projects",
		"API/v1/accounts/a", "api/V1/accounts/a", "api/v1/api/v1/accounts/a", "v1/accounts/a", "api/accounts/a", "api/v2/projects/p",
		"account%C5%BF/a", "project%c5%bf/p", "accounts/a/project%C5%BF", "projects/p/x/ACCOUNT%C5%BF", "accounts/a/projects%20/p", "accounts/a/x/%C2%A0projects/p", "%20accounts/a",
		"accounts/a%20b", "accounts/a:b", "projects/p%20/x", "projects/caf%C3%A9", "accounts/a,b/projects/p", "accounts/a/projects/p!",
	} {
		if got, problem := route.ParseTarget(path); problem == "" || got != (resources.Target{}) {
			t.Errorf("%s is taken as %+v", path, got)
		}
	}
}
