package doors_test

import (
	"slices"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

type headers struct{}

func (headers) Identity(string) (value, problem string) { return "", "" }

func (headers) Values(string) ([]string, bool) { return nil, false }

// TestEmptyPathIsToldWhereItBelongs guarantees that the problem names the place behind the path of
// the asked door.
func TestEmptyPathIsToldWhereItBelongs(t *testing.T) {
	t.Parallel()
	for _, self := range []string{"/api/v1/authorize/", "/api/v1/explain/"} {
		row := resources.Route{Path: self + "{proxy+}"}
		_, problems := doors.ReadQuestion(doors.Call{Row: &route.Row{Route: row}, Headers: headers{}})
		if want := (resources.Problem{Field: "path", Text: "is empty; the path in question follows " + self}); !slices.Contains(problems, want) {
			t.Errorf("%s: %v", self, problems)
		}
	}
}
