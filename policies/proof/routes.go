package proof

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// checkRoutes reports rows that the gateway can't serve, rows without a possible caller, and two rows for the same
// method, host and path.
func (c *catalogue) checkRoutes(docs documents, p *Problems) {
	places, messages := map[string]*resources.Route{}, map[string]string{}
	for _, route := range c.routes {
		problem := func(field, format string, args ...any) {
			file, line := docs.line(route.Name+"."+field, route.Name)
			p.report(file, line, "%s: %s", route.Name, fmt.Sprintf(format, args...))
		}
		checkRow(route, problem)
		c.checkAction(route, problem)
		place := route.Method + " " + strings.ToLower(route.Host) + pattern(route.Path)
		message := place + "\n" + route.MCP.Method + "\n" + route.MCP.Name
		if other := places[place]; other != nil && other.MCP.Named() != route.MCP.Named() {
			problem("mcp", "%s has this path, too, and one of the two has no mcp: give both of them mcp, or none", other.Name)
		} else if other, taken := messages[message]; taken {
			problem("path", "%s %s%s is already the place of %s", route.Method, route.Host, route.Path, other)
		}
		places[place], messages[message] = &route, route.Name
	}
}

// pattern returns the path without the names of its parameters. Paths that differ only in these match the same
// requests.
func pattern(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		switch {
		case !strings.HasPrefix(segment, "{") || !strings.HasSuffix(segment, "}"):
		case strings.HasSuffix(segment, "+}"):
			segments[i] = "{+}"
		default:
			segments[i] = "{}"
		}
	}
	return strings.Join(segments, "/")
}

// checkRow reports problems of the method, host, path, mcp, claims, effect, area and access of a row.
func checkRow(route resources.Route, problem func(field, format string, args ...any)) {
	methods := []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, resources.AnyMethod}
	if !slices.Contains(methods, route.Method) {
		problem("method", "method %q is none of GET, POST, PUT, PATCH, DELETE, OPTIONS, *", route.Method)
	}
	if route.Host != "" && !resources.ValidHost(route.Host) {
		problem("host", "host %q must be the name of a host, without a port and without a dot at its end", route.Host)
	}
	if !strings.HasPrefix(route.Path, "/") || strings.HasSuffix(route.Path, "/") && route.Host == "" || strings.ContainsAny(route.Path, " ?#%\\") || strings.Contains(route.Path, "//") {
		problem("path", "path %q must begin with /, be plain segments or {names}, and end with / only on a row with a host", route.Path)
	}
	if text := route.MCPProblem(); text != "" {
		problem("mcp", "mcp %s", text)
	}
	if route.Claims && slices.Contains(route.Access, "public") {
		problem("claims", "claims are those of a caller, and a public row looks at no credential; leave one of them out")
	}
	if route.Effect != resources.EffectRead && route.Effect != resources.EffectWrite {
		problem("effect", "effect %q is neither read nor write", route.Effect)
	}
	areas := []string{"", resources.AreaFirewall, resources.AreaAccess, resources.AreaUsers, resources.AreaCompute}
	if !slices.Contains(areas, route.Area) {
		problem("area", "area %q is none of firewall, access, users, compute; it may be left out", route.Area)
	}
	for _, kind := range route.Access {
		if !knownAccess(kind) {
			problem("access", "access %q is none of self, self_by_token, asks_self, member, public, service:<scope>; scopes are %s",
				kind, strings.Join(resources.ServiceScopes(), ", "))
		}
	}
}

// checkAction reports an action that no system role grants, since it is probably misspelt, and a row without an action
// and an access kind.
func (c *catalogue) checkAction(route resources.Route, problem func(field, format string, args ...any)) {
	if route.Action == "" {
		if len(route.Access) == 0 {
			problem("action", "has neither an action nor an access kind: nobody could use it")
		}
		return
	}
	action, err := resources.ParseAction(route.Action)
	if err != nil {
		problem("action", "action %q %v", route.Action, err)
		return
	}
	if !c.grants(action) {
		problem("action", "action %s is granted by no system role", route.Action)
	}
}

func knownAccess(kind string) bool {
	if scope, ok := strings.CutPrefix(kind, "service:"); ok {
		return slices.Contains(resources.ServiceScopes(), scope)
	}
	return slices.Contains([]string{"self", "self_by_token", "asks_self", "member", "public"}, kind)
}
