package matrix

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// formats says whether a built-in only makes a text of its operands. A text that is then compared is one of many.
func formats(name string) bool {
	return name == "sprintf" || name == "internal.template_string" || name == "internal.print"
}

// takesApart says whether a built-in only takes patterns of permissions apart, puts them together, or compares a number
// of them with a constant, which is counted.
func takesApart(name string, of *flow) bool {
	switch {
	case name == "split", name == "concat":
		return true
	case orders(name):
		for _, value := range of.consts {
			if _, isNumber := value.(ast.Number); !isNumber {
				return false
			}
		}
		return len(of.paths) == 1 && len(of.consts) > 0
	}
	return false
}

// orders says whether a built-in says which of two values comes first.
func orders(name string) bool {
	return name == "lt" || name == "lte" || name == "gt" || name == "gte"
}

// compares says whether a built-in tells its operands apart by equality alone, or by their kind or number; what it gives
// is one of them, or made of them. measures says where it does more.
func compares(name string) bool {
	switch name {
	case "internal.member_2", "internal.member_3", "object.get", "object.keys", "object.union", "object.union_n", "count", "min", "max", "sort",
		"and", "or", "minus", "union", "intersection", "is_array", "is_boolean", "is_null", "is_number", "is_object", "is_set", "is_string",
		"type_name", "array.concat", "array.flatten", "object.subset", "object.remove", "object.filter":
		return true
	}
	return false
}

// measures says whether a built-in that compares also tells values at a path apart by the length of a text, by their order,
// or by a difference of times. Of the ids of roles, and of permissions, the least one is only told.
func measures(name, path string, of *flow) bool {
	switch name {
	case "count":
		return path != "grant.permissions" && path != "subject.here" && !strings.HasPrefix(path, "subject.assignments")
	case "min", "max", "sort":
		return !numeric(path) && (len(of.consts) > 0 || path != "subject.here.role" && path != "grant.permissions")
	case "minus":
		return numeric(path)
	}
	return false
}

// ofPermissions says whether a part of the input, or the grants, has patterns of permissions.
func ofPermissions(path string) bool {
	return path == "grant.permissions" || path == "grants" || path == "subject.here.permissions" || path == "subject.roles" ||
		strings.HasPrefix(path, "subject.roles.")
}

// keyed says whether the members of a part of the input have names that the questions give.
func keyed(path string) bool {
	switch path {
	case "principal.scopes", "principal.key_scopes", "route.access", "grant.permissions", "subject.here.permissions", "subject.roles", "action.patterns":
		return true
	}
	return strings.HasPrefix(path, "subject.roles.") || path == "grants"
}

// numeric says whether a part of the input is a time.
func numeric(path string) bool {
	return path == "now" || path == "grant.until" || path == "subject.here.expires" || strings.HasPrefix(path, "subject.assignments.")
}

// open says what of a part of the input no table holds; "" for one whose values are few, or made by the gateway.
func open(path string) string {
	switch path {
	case "":
		return "all questions"
	case "now", "grant.until", "subject.here.expires":
		return "times"
	case "principal.id", "subject.id", "target.user", "principal.uuid":
		return "users and services by their ids"
	case "principal.account", "account.id", "target.account":
		return "accounts by their ids"
	case "target.project":
		return "projects by their ids"
	case "target.resource", "target.rest":
		return "resources by their names"
	case "action.id", "action.resource", "action.verb", "action.patterns":
		return "actions that no tree lists"
	case "grant.permissions":
		return "permissions by their names"
	case "subject.here.role", "subject.here.permissions", "subject.roles":
		return "custom roles by their ids and permissions"
	case "account.status", "subject.status", "subject.here.status", "subject.here.role_status", "subject.here.role_scope":
		return "unknown stored values"
	}
	if strings.HasPrefix(path, "subject.assignments") || path == "principal" || path == "account" || path == "subject" || path == "target" ||
		path == "action" || path == "subject.here" {
		return "members of " + path
	}
	return ""
}

func isAssignmentField(name string) bool {
	switch name {
	case "role", "custom", "permissions", "level", "role_scope", "role_status", "status", "expires", "running", "outlasts_grant":
		return true
	}
	return false
}
