package limits

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Why a built-in is refused; told beside the compiler's "undefined function".
const (
	whyNetwork = "a policy has no network"
	whyRuntime = "a policy doesn't see the environment or the process it runs in"
	whySecrets = "a policy doesn't make credentials"
	whySource  = "a policy doesn't parse policies"
	whyEndless = "nothing bounds its work or its memory, and it can't be stopped"
	whyFormat  = "nothing that a decision rests on has this format, and its parser takes many times the memory of a text"
	whyEffect  = "a policy has no side effects"
	whyUnknown = "nobody has judged what it does and how much it makes"
)

// refused returns the built-ins that no policy may call, whether they fit a class or not.
func refused() map[string]string {
	return map[string]string{
		"http.send":              whyNetwork,
		"net.lookup_ip_addr":     whyNetwork,
		"providers.aws.sign_req": whyNetwork, // signs requests that nothing here could send
		"opa.runtime":            whyRuntime, // environment variables and configuration
		"io.jwt.encode_sign":     whySecrets, // needs a private key in the tree or the input
		"io.jwt.encode_sign_raw": whySecrets,
		"rego.parse_module":      whySource,

		"bits.lsh":                whyEndless, // of a large shift, all the memory there is
		"graph.reachable_paths":   whyEndless, // as many as a graph of n nodes has: up to n!
		"indexof_n":               whyEndless, // of an empty text it never ends
		"json.match_schema":       whyEndless, // a schema that refers to itself overflows the stack and ends the process
		"json.verify_schema":      whyEndless,
		"strings.render_template": whyEndless, // a template has loops in loops

		"graphql.is_valid":         whyFormat,
		"graphql.parse":            whyFormat,
		"graphql.parse_and_verify": whyFormat,
		"graphql.parse_query":      whyFormat,
		"graphql.parse_schema":     whyFormat,
		"graphql.schema_is_valid":  whyFormat,
		"yaml.is_valid":            whyFormat,
		"yaml.marshal":             whyFormat,
		"yaml.unmarshal":           whyFormat,

		"trace": whyEffect, // print is erased when the tree is compiled to serve
	}
}

// impure returns the allowed built-ins among those that OPA marks as not deterministic. Their time is the question's; no
// verdict that calls one is cached.
func impure() []string {
	return []string{
		"time.now_ns",
		"rand.intn",
		"uuid.rfc4122",
		"io.jwt.decode_verify", // compares with the question's time
	}
}

// Capabilities returns what a policy may use: the built-ins with a known cost (costs.go), such as strings, numbers, regular
// expressions, hashes, and verification of tokens and certificates, and those named in also.
func Capabilities(also ...string) *ast.Capabilities {
	caps := ast.CapabilitiesForThisVersion()
	named, all := impure(), costs()
	caps.Builtins = slices.DeleteFunc(caps.Builtins, func(b *ast.Builtin) bool {
		_, judged := all[b.Name]
		return !slices.Contains(also, b.Name) && (!judged || b.Nondeterministic && !slices.Contains(named, b.Name))
	})
	caps.AllowNet = []string{} // nil would allow every host to schemas with remote references
	return caps
}

// WhyRefused explains the compiler's "undefined function x" where x exists but may not be called; "" for
// any other message.
func WhyRefused(message string) string {
	name, ok := strings.CutPrefix(message, "undefined function ")
	if !ok {
		return ""
	}
	if why, ok := refused()[name]; ok {
		return why
	}
	if _, ok := ast.BuiltinMap[name]; ok {
		return whyUnknown
	}
	return ""
}
