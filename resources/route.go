package resources

// Areas: which error body a route answers with, and which handlers serve it.
const (
	AreaFirewall = "firewall"
	AreaAccess   = "access"
	AreaUsers    = "users"
	AreaCompute  = "compute"
)

// Effects of a route: what an API key's scopes are held against where no action is named.
const (
	EffectRead  = "read"
	EffectWrite = "write"
)

// Route is one row of the action catalogue (policies/routes).
type Route struct {
	// Name is the row's key: "security_group.create", or an operator's own.
	Name string `json:"-"`
	// Spec is the specification's code of the endpoint, such as E1; "" for an operator's own.
	Spec   string `json:"spec,omitempty"`
	Method string `json:"method"`
	// Path is a pattern such as /api/v1/accounts/{accountId}/roles; a last segment
	// {proxy+} takes the rest.
	Path string `json:"path"`
	// Action is asked of the policy; "" where Access alone decides.
	Action string `json:"action,omitempty"`
	// Access are other ways in: self, asks_self, member, public, service:<scope>.
	Access []string `json:"access,omitempty"`
	Effect string   `json:"effect"`
	// Claims says that the caller states its account in X-Account-ID, and may state
	// itself in X-User-ID: what is not true is 401 (specification, E1 and E2).
	Claims   bool   `json:"claims,omitempty"`
	Area     string `json:"area"`
	Upstream string `json:"upstream"`
}
