package resources

// Areas of routes. The area of a route decides the form of its error bodies and which handlers
// serve it.
const (
	AreaFirewall = "firewall"
	AreaAccess   = "access"
	AreaUsers    = "users"
	AreaCompute  = "compute"
)

// Effects of a route. They are compared with the scopes of an API key.
const (
	EffectRead  = "read"
	EffectWrite = "write"
)

// AnyMethod is the method of a row for every method but CONNECT and TRACE.
const AnyMethod = "*"

// RouteNamed names, in questions, a call that no row is for: a proxy says what it does.
const RouteNamed = "external.named"

// UpstreamExternal is the upstream of rows whose calls the gateway judges for a proxy, and never
// serves itself.
const UpstreamExternal = "external"

// UpstreamAuthorize is the upstream of rows whose calls the gateway's own doors answer.
const UpstreamAuthorize = "authorize"

// UpstreamPortcullis is the upstream of MCP servers of the gateway's own.
const UpstreamPortcullis = "portcullis"

// Route is one row of the action catalogue (policies/routes).
type Route struct {
	// Name is the row's key, such as "security_group.create".
	Name string `json:"-"`
	// Spec is the specification's code of the endpoint, such as E1; "" for a route of the
	// operator.
	Spec string `json:"spec,omitempty"`
	// Method is an HTTP method, or AnyMethod.
	Method string `json:"method"`
	// Host is the name of the host whose calls the row is for, in letters of any case and without a
	// port; "" for every host.
	Host string `json:"host,omitempty"`
	// Path is a pattern such as /api/v1/accounts/{accountId}/roles. A last segment {rest+}
	// matches one or more further segments, {proxy+} any rest of a path, also an empty one.
	Path string `json:"path"`
	// Place is the position of the account and the project in the path of a row with a host; the zero value is E3's.
	Place RoutePlace `json:"place,omitzero"`
	// MCP narrows the row to messages of MCP clients; the zero value does not.
	MCP RouteMCP `json:"mcp,omitzero"`
	// Action is the action for policy; "" if Access alone decides.
	Action string `json:"action,omitempty"`
	// Access holds further conditions that allow: self, asks_self, member, public,
	// service:<scope>.
	Access []string `json:"access,omitempty"`
	Effect string   `json:"effect"`
	// Claims says that the caller names its account in X-Account-ID and may name itself in
	// X-User-ID. A false claim is answered 401 (specification, E1 and E2).
	Claims bool `json:"claims,omitempty"`
	// Audience is who the assertion of an allowed call is for. Without one, that of a call to an
	// upstream is for the upstream's name.
	Audience string `json:"audience,omitempty"`
	// Area is "" for a route of the operator, whose errors have the shape of AreaAccess.
	Area     string `json:"area,omitempty"`
	Upstream string `json:"upstream"`
}

// RoutePlace names the path's parameters, as {name}, for the account and the project; "" for none.
type RoutePlace struct {
	Account string `json:"account,omitempty"`
	Project string `json:"project,omitempty"`
}
