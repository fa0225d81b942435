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

// Route is one row of the action catalogue (policies/routes).
type Route struct {
	// Name is the row's key, such as "security_group.create".
	Name string `json:"-"`
	// Spec is the specification's code of the endpoint, such as E1; "" for a route of the
	// operator.
	Spec   string `json:"spec,omitempty"`
	Method string `json:"method"`
	// Path is a pattern such as /api/v1/accounts/{accountId}/roles. A last segment {proxy+}
	// matches the rest of a path.
	Path string `json:"path"`
	// Action is the action that policy decides about; "" where Access alone decides.
	Action string `json:"action,omitempty"`
	// Access holds further conditions that allow: self, asks_self, member, public,
	// service:<scope>.
	Access []string `json:"access,omitempty"`
	Effect string   `json:"effect"`
	// Claims says that the caller names its account in X-Account-ID and may name itself in
	// X-User-ID. A false claim is answered 401 (specification, E1 and E2).
	Claims   bool   `json:"claims,omitempty"`
	Area     string `json:"area"`
	Upstream string `json:"upstream"`
}
