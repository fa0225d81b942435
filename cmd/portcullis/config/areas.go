package config

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/resources"
)

// Roles of a process.
const (
	// roleAll is the gateway with every area that has no upstream.
	roleAll = "all"
	// roleGateway is the gateway without resource areas: each of them is an upstream.
	roleGateway = "gateway"
	// roleResources serves resource areas to gateways, and to nobody else.
	roleResources = "resources"
)

// The names under which the catalogue finds the handlers of this program.
const (
	UpstreamAccess   = "access"
	UpstreamAPIDoc   = "apidoc"
	UpstreamAPIKeys  = "apikeys"
	UpstreamClusters = "clusters"
	// UpstreamDecisions has what was decided.
	UpstreamDecisions = "decisions"
	UpstreamFirewall  = "firewall"
	UpstreamKeys      = "keys"
	UpstreamUsers     = "users"
)

// ResourceAreas returns the areas that another process can serve, by their upstream names.
func ResourceAreas() []string { return []string{UpstreamClusters, UpstreamFirewall} }

// BuiltIn returns the upstreams that no other process can serve.
func BuiltIn() []string {
	return []string{UpstreamAccess, UpstreamKeys, UpstreamUsers, UpstreamAPIKeys, UpstreamAPIDoc, UpstreamDecisions, resources.UpstreamAuthorize, resources.UpstreamPortcullis}
}

// Areas says which routes this process serves, and the addresses of the others.
type Areas struct {
	role, list string
	upstreams  []string
	// Gateways are the private listeners of the installation's gateways, host:port.
	Gateways []string
}

func (a *Areas) flags(f *pflag.FlagSet) {
	f.StringVar(&a.role, "role", roleAll, "the `role` of the process: all, gateway (resource areas are upstreams) or resources (they are here, behind gateways)")
	f.StringVar(&a.list, "areas", "", "with --role resources: the `areas` that this process serves, as firewall,clusters")
	f.StringArrayVar(&a.Gateways, "gateways", nil, "the private listeners of all gateways, as `host:port`: their decisions are answered together (repeatable; a name with several addresses is all of them)")
	f.StringArrayVar(&a.upstreams, "upstream", nil, "an upstream as `name=URL`: another process serves its routes (repeatable)")
}

// BehindGateways reports whether the process serves resource areas to gateways only.
func (a Areas) BehindGateways() bool { return a.role == roleResources }

// Upstreams returns the other processes by their upstream names.
func (a Areas) Upstreams() map[string]*url.URL {
	bases, _ := a.readUpstreams() // Validate returns the problems
	return bases
}

// AddUpstream adds an upstream that the program itself starts.
func (a *Areas) AddUpstream(name, address string) {
	a.upstreams = append(a.upstreams, name+"="+address)
}

// Local returns the resource areas that this process serves.
func (a Areas) Local() []string {
	switch a.role {
	case roleAll:
		bases := a.Upstreams()
		return slices.DeleteFunc(ResourceAreas(), func(name string) bool { return bases[name] != nil })
	case roleResources:
		return strings.Split(a.list, ",")
	default:
		return nil
	}
}

// Validate returns what is wrong with the role, the areas and the upstreams.
func (a Areas) Validate() []resources.Problem {
	bases, problems := a.readUpstreams()
	ok := len(problems) == 0
	if a.list != "" && !a.BehindGateways() {
		problems = append(problems, problem("--areas", "is for --role resources; leave it out"))
	}
	problems = append(problems, a.validateGateways()...)
	switch a.role {
	case roleAll:
	case roleGateway:
		for _, name := range ResourceAreas() {
			if ok && bases[name] == nil {
				problems = append(problems, problem("--role gateway", "needs --upstream %s=url: where that area is", name))
			}
		}
	case roleResources:
		return append(problems, a.validateResources()...)
	default:
		return append(problems, problem("--role", "must be all, gateway or resources, not %q", a.role))
	}
	if ok && slices.Equal(a.Local(), []string{UpstreamClusters}) {
		problems = append(problems, problem("--upstream firewall", "needs --upstream clusters: clusters name security groups, and have to be in the same process"))
	}
	return problems
}

// validateGateways returns what is wrong with the addresses of gateways.
func (a Areas) validateGateways() (problems []resources.Problem) {
	for _, address := range a.Gateways {
		if host, port, err := net.SplitHostPort(address); err != nil || host == "" || port == "" {
			problems = append(problems, problem("--gateways", "must be host:port of a gateway's private listener, not %q", address))
		}
	}
	if a.BehindGateways() && len(a.Gateways) > 0 {
		problems = append(problems, problem("--gateways", "is for gateways; leave it out with --role resources"))
	}
	return problems
}

// validateResources returns what is wrong for a process behind gateways.
func (a Areas) validateResources() (problems []resources.Problem) {
	if len(a.upstreams) > 0 {
		problems = append(problems, problem("--upstream", "is for gateways; leave it out with --role resources"))
	}
	if a.list == "" {
		return append(problems, problem("--role resources", "needs --areas: which of clusters, firewall this process serves"))
	}
	areas := a.Local()
	for i, name := range areas {
		if !slices.Contains(ResourceAreas(), name) || slices.Contains(areas[:i], name) {
			return append(problems, problem("--areas", "must be clusters, firewall or both, each once, with a comma between, not %q", a.list))
		}
	}
	if slices.Equal(areas, []string{UpstreamClusters}) {
		problems = append(problems, problem("--areas clusters", "needs firewall in the same process: clusters name security groups; give --areas firewall,clusters"))
	}
	return problems
}

// readUpstreams reads the pairs of --upstream: the base URLs by the names of the services, and all that is wrong.
func (a Areas) readUpstreams() (bases map[string]*url.URL, problems []resources.Problem) {
	bases = map[string]*url.URL{}
	given := map[string]bool{}
	for _, pair := range a.upstreams {
		name, address, named := strings.Cut(pair, "=")
		base := webAddress(address)
		switch {
		case name == "" || base == nil || base.RawQuery != "":
			flag := "--upstream" // the rest is not repeated: it may hold a password
			if named && resources.ValidID(name) {
				flag += " " + name
			}
			problems = append(problems, problem(flag, "must be name=http://host:port or name=https://host:port, without a user and a query"))
		case given[name]:
			problems = append(problems, problem("--upstream "+name, "is given twice; leave one out"))
		case slices.Contains(BuiltIn(), name):
			problems = append(problems, problem("--upstream "+name, "has routes that only the gateway itself answers; the areas that can be elsewhere are %s",
				strings.Join(ResourceAreas(), ", ")))
		case name == resources.UpstreamExternal:
			problems = append(problems, problem("--upstream "+name, "is the name of calls that are judged for a proxy and not served here; give the service another name"))
		default:
			bases[name] = base
		}
		given[name] = true
	}
	return bases, problems
}
