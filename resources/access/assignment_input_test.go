package access_test

import (
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
)

func TestWhatAnAssignmentIsRefusedFor(t *testing.T) {
	w := newWorld(t)
	w.role(resources.Role{ID: "role-off-v1", Name: "off", Scope: "ACCOUNT", Status: "INACTIVE", AccountID: acctA, Permissions: []string{"account:user:read"}})
	before := w.held(dan)
	for name, tc := range map[string]struct {
		role, query string
		body        any
		problems    []string
	}{
		"no body":                        {"team_member", "", nil, []string{"the body must be a JSON object"}},
		"a list":                         {"team_member", "", "[]", []string{"the body must be a JSON object"}},
		"unknown field":                  {"team_member", "", object{"assigneetype": "USER"}, []string{"assigneetype: unknown field"}},
		"a field twice":                  {"team_member", "", `{"status":"INACTIVE","status":"ACTIVE"}`, []string{"twice"}},
		"operator":                       {"team_member", "", object{"roleId": object{"$ne": ""}}, []string{"roleId: must be a string"}},
		"operator in the query":          {"team_member", "projectId[$ne]=x", object{}, []string{"projectId[$ne]: unknown query parameter"}},
		"assigneeType":                   {"team_member", "", object{"assigneeType": "GROUP"}, []string{"assigneeType: must be one of USER, IAMGROUP"}},
		"status":                         {"team_member", "", object{"status": "active"}, []string{"status: must be one of"}},
		"expiresAt no time":              {"team_member", "", object{"expiresAt": "tomorrow"}, []string{"expiresAt: must be a date-time"}},
		"expiresAt now":                  {"team_member", "", object{"expiresAt": areatest.Start.String()}, []string{"expiresAt: must be in the future"}},
		"expiresAt beyond what is shown": {"team_member", "", object{"expiresAt": "9999-12-31T23:59:59-12:00"}, []string{"expiresAt: must be a date-time"}},
		"project twice in the query":     {"project_reader", "projectId=" + projA1 + "&projectId=" + projA2, object{}, []string{"projectId: must be sent once"}},
		"different projects":             {"project_reader", "projectId=" + projA1, object{"projectId": projA2}, []string{"query and body name different projects"}},
		"a project and none":             {"project_reader", "projectId=" + projA1, object{"projectId": ""}, []string{"query and body name different projects"}},
		"malformed project in the query": {"project_reader", "projectId=a|b", object{}, []string{"projectId: must be 1 to 128 characters"}},
		"malformed project in the body":  {"project_reader", "", object{"projectId": "a b"}, []string{"projectId: must be 1 to 128 characters"}},
		"malformed role in the body":     {"team_member", "", object{"roleId": "a|b"}, []string{"roleId: must be 1 to 128 characters"}},
		"empty role in the body":         {"team_member", "", object{"roleId": ""}, []string{"roleId: must not be empty"}},
		"unknown role in the body":       {"team_member", "", object{"roleId": absent}, []string{"roleId: is not a role of this account"}},
		"unknown project in the query":   {"project_reader", "projectId=" + absent, object{}, []string{"projectId: is not an active project of this account"}},
		"unknown project in the body":    {"project_reader", "", object{"projectId": absent}, []string{"projectId: is not an active project of this account"}},
		"a project that is being deleted": {
			"project_reader", "", object{"projectId": projLeaving}, []string{"projectId: is not an active project of this account"},
		},
		"PROJECT role without a project": {"project_reader", "", object{}, []string{"projectId: is missing; a PROJECT role"}},
		"ACCOUNT role with a project":    {"team_member", "projectId=" + projA1, object{}, []string{"projectId: an ACCOUNT role"}},
		"INACTIVE role":                  {"role-off-v1", "", object{}, []string{"the role role-off-v1 is not ACTIVE"}},
		"all at once, data included, before an absent role": {absent, "projectId=" + absent + "&x=1", object{
			"roleId": absent, "status": 1, "expiresAt": "2001-01-01T00:00:00Z", "assigneeType": "x", "resourceId": "x", "y": 1,
		}, []string{"x: unknown", "projectId:", "roleId:", "status:", "expiresAt:", "assigneeType:", "resourceId:", "y: unknown"}},
	} {
		t.Run("400 "+name, func(t *testing.T) {
			w := w.sub(t)
			got := w.put(tc.role, dan, tc.query, tc.body)
			w.Expect(got, 400, tc.problems...)
			if len(got.Err.Problems) != len(tc.problems) {
				t.Errorf("%d problems, want %d: %s", len(got.Err.Problems), len(tc.problems), got.Text)
			}
		})
	}
	w.holds(dan, before)
}

func TestWhatIsNotThereIsNotAssigned(t *testing.T) {
	w := newWorld(t)
	for name, got := range map[string]areatest.Answer{
		"role":            w.put(absent, dan, "", object{}),
		"their role":      w.put(roleB, dan, "", object{}),
		"role and user":   w.put(absent, absent, "", object{}),
		"user":            w.put("team_member", absent, "", object{}),
		"their user":      w.put("team_member", bea, "", object{}),
		"a group as user": w.put("team_member", groupA, "", object{}),
		"group":           w.put("team_member", absent, "", object{"assigneeType": "IAMGROUP"}),
		"their group":     w.put("team_member", groupB, "", object{"assigneeType": "IAMGROUP"}),
		"a user as group": w.put("team_member", dan, "", object{"assigneeType": "IAMGROUP"}),
	} {
		want := "There is no such role."
		if !strings.Contains(name, "role") {
			want = "There is no such user."
			if strings.Contains(got.Text, "group") {
				want = "There is no such group."
			}
		}
		if got.Status != 404 || got.Err.Message != want {
			t.Errorf("%s: %d %s", name, got.Status, got.Text)
		}
	}
}
