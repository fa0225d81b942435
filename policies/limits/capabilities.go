package limits

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Why a policy may not call a built-in. Problems have it beside the compiler's "undefined function".
const (
	whyNetwork = "a policy has no network"
	whyRuntime = "a policy doesn't see the environment or the process it runs in"
	whySecrets = "a policy doesn't make credentials"
	whySource  = "a policy doesn't parse policies"
	whyEndless = "nothing bounds its work or its memory, and it can't be stopped"
	whyFormat  = "no facts of a decision have this format, and its parser takes many times the memory of a text"
	whyEffect  = "a policy has no side effects"
	whyUnknown = "this version does not know its cost; use another built-in"
)

// refused returns the built-ins that no policy may call, with the reasons.
func refused() map[string]string {
	return map[string]string{
		"http.send":              whyNetwork,
		"net.lookup_ip_addr":     whyNetwork,
		"providers.aws.sign_req": whyNetwork, // signs requests that nothing here could send
		"opa.runtime":            whyRuntime, // environment variables and configuration
		"io.jwt.encode_sign":     whySecrets, // needs a private key in the tree or the input
		"io.jwt.encode_sign_raw": whySecrets,
		"rego.parse_module":      whySource,

		"bits.lsh":                whyEndless, // a large shift takes all memory
		"graph.reachable_paths":   whyEndless, // a graph of n nodes has up to n! paths
		"indexof_n":               whyEndless, // it never ends with an empty text
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

		"trace": whyEffect, // the compiler removes print from rules that serve
	}
}

// impure returns the allowed built-ins that OPA marks as nondeterministic. Their time is the time of the question. The
// engine does not cache verdicts of rules that call them.
func impure() []string {
	return []string{
		"time.now_ns",
		"rand.intn",
		"uuid.rfc4122",
		"io.jwt.decode_verify", // compares with the question's time
	}
}

// Capabilities returns OPA's capabilities with the built-ins that a policy may call: those with a known cost (costs.go)
// and those in also. Nondeterministic ones need an entry in impure.
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

// WhyRefused explains the compiler's "undefined function x" if x is a built-in that policies may not call. It returns
// "" for other messages.
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
