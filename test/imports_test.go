package test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/must"
)

const (
	module       = "github.com/portcullis-authz/portcullis"
	clientModule = module + "/gateway/client"
)

// row is what a package may import beside the standard library: packages of the module by their
// exact folder, other modules by a prefix of their path.
type row struct {
	inside  []string
	outside []string
	// all lifts every limit except two: a package below cmd needs an entry in inside, and the peers of the load run
	// need peers.
	all bool
	// peers lets the package's tests import the peers.
	peers bool
	// alone is the folder of a module that needs no other: the package's tests import what is in it.
	alone string
}

const (
	fiber      = "github.com/gofiber/fiber/v2"
	fasthttp   = "github.com/valyala/fasthttp"
	netx       = "golang.org/x/net"
	jwt        = "github.com/golang-jwt/jwt/v5"
	json       = "github.com/go-json-experiment/json"
	udiff      = "github.com/aymanbagabas/go-udiff"
	opa        = "github.com/open-policy-agent/opa"
	mongodb    = "go.mongodb.org/mongo-driver/v2"
	redis      = "github.com/redis/go-redis/v9"
	breaker    = "github.com/sony/gobreaker/v2"
	sqlite     = "modernc.org/sqlite"
	sysExt     = "golang.org/x/sys"
	mail       = "github.com/wneessen/go-mail"
	oidc       = "github.com/coreos/go-oidc/v3"
	oauth      = "golang.org/x/oauth2"
	syncExt    = "golang.org/x/sync"
	chromedp   = "github.com/chromedp/chromedp"
	cdproto    = "github.com/chromedp/cdproto"
	zitadel    = "github.com/zitadel/oidc/v3"
	jsonschema = "github.com/google/jsonschema-go"
	mcpsdk     = "github.com/modelcontextprotocol/go-sdk"
	yaml       = "go.yaml.in/yaml/v3"
	viewer     = "github.com/swaggest/swgui"
	flags      = "github.com/spf13/pflag"
	metrics    = "github.com/prometheus/client_golang"
	schema     = "github.com/santhosh-tekuri/jsonschema/v6"
	cedar      = "github.com/cedar-policy/cedar-go"
	grpc       = "google.golang.org/grpc"
	envoy      = "github.com/envoyproxy/go-control-plane/envoy"
	genproto   = "google.golang.org/genproto/googleapis/rpc"
	protobuf   = "google.golang.org/protobuf"
	casbin     = "github.com/casbin/casbin/v2"
	otel       = "go.opentelemetry.io/otel"
	otlp       = "go.opentelemetry.io/proto/otlp"
	zstd       = "github.com/klauspost/compress/zstd"
)

// area returns the row of resources/<area>: no other area, no gateway, no policy, no fiber. How a creating request is
// made once is shared by all of them.
func area(more ...string) row {
	return row{inside: append([]string{"resources", "resources/wire", "resources/idempotency", "store", "store/records"}, more...)}
}

// mayImport is the table of allowed imports in docs/architecture.md. A package without a row is a finding.
//
// depguard can't replace it: it passes a package without a list, an unused permission, and files of other platforms.
var mayImport = map[string]row{
	"resources":           {},
	"resources/wire":      {inside: []string{"resources"}, outside: []string{json}},
	"resources/gate":      {inside: []string{"resources"}},
	"resources/access":    area("resources/changes", "resources/gate"),
	"resources/apikeys":   area(),
	"resources/clusters":  area(),
	"resources/decisions": {inside: []string{"resources", "resources/gate", "resources/wire", "store/decisionlog"}, outside: []string{json}},
	"resources/firewall":  area(),
	"resources/approvals": {inside: []string{"resources", "store", "store/records"}},
	"resources/sessions":  {inside: []string{"resources", "store", "store/records"}},
	"resources/health":    {inside: []string{"resources"}},
	"resources/users":     area("resources/changes", "resources/memo"),

	"resources/apidoc":      {inside: []string{"resources", "resources/wire"}, outside: []string{yaml, viewer}},
	"resources/changes":     {inside: []string{"resources", "resources/wire", "store", "store/records"}},
	"resources/idempotency": {inside: []string{"resources", "resources/wire", "store", "store/records"}},
	"resources/areatest": {
		inside: []string{"policies", "policies/engine", "policies/proof", "resources", "resources/idempotency", "resources/wire", "store", "store/records", "store/sqlite"},
	},
	"resources/atonce":     {},
	"resources/durable":    {},
	"resources/definition": {outside: []string{json}},
	"resources/memo":       {},
	"resources/outbox":     {inside: []string{"resources", "resources/durable", "store", "store/records"}, outside: []string{mail}},

	"store":             {inside: []string{"resources"}},
	"store/records":     {inside: []string{"store", "resources"}, outside: []string{json}},
	"store/queries":     {inside: []string{"resources", "resources/gate", "store", "store/records"}},
	"store/storetest":   {inside: []string{"store"}},
	"store/mongodb":     {inside: []string{"store"}, outside: []string{mongodb}},
	"store/backup":      {inside: []string{"resources/durable"}},
	"store/transfer":    {inside: []string{"store", "store/records"}},
	"store/sqlite":      {inside: []string{"store"}, outside: []string{sqlite}},
	"store/decisionlog": {inside: []string{"resources", "resources/durable"}, outside: []string{json, zstd}},
	"store/redis":       {outside: []string{breaker, redis}},
	"store/rolecache":   {inside: []string{"store", "store/records", "resources", "resources/atonce", "resources/gate", "resources/memo"}},

	"policies":                  {},
	"policies/arguments":        {inside: []string{"resources"}, outside: []string{schema}},
	"policies/limits":           {inside: []string{"resources"}, outside: []string{opa}},
	"policies/overlay":          {inside: []string{"policies", "resources"}, outside: []string{opa, json, udiff}},
	"policies/bundles":          {inside: []string{"policies", "policies/overlay", "resources", "resources/durable"}, outside: []string{opa}},
	"policies/question":         {inside: []string{"resources"}, outside: []string{opa}},
	"policies/shadow":           {inside: []string{"policies", "policies/limits", "policies/engine", "resources"}},
	"policies/replay":           {inside: []string{"policies/engine", "resources"}, outside: []string{opa}},
	"policies/pins":             {inside: []string{"policies", "policies/overlay", "policies/proof", "resources", "resources/definition"}, outside: []string{json}},
	"policies/proof":            {inside: []string{"policies", "policies/arguments", "policies/limits", "policies/engine", "policies/question", "resources"}, outside: []string{json, opa}},
	"policies/compare":          {inside: []string{"policies/limits", "policies/engine", "policies/question", "resources"}, outside: []string{opa}},
	"policies/compare/diff":     {inside: []string{"policies/compare", "policies/compare/people", "policies/engine", "resources"}},
	"policies/compare/people":   {inside: []string{"policies/compare", "policies/engine", "policies/question", "resources"}, outside: []string{opa}},
	"policies/compare/guards":   {inside: []string{"policies/compare/diff", "policies/compare", "policies/engine"}, outside: []string{opa}},
	"policies/policytest":       {inside: []string{"policies", "policies/question", "resources"}, outside: []string{opa}},
	"policies/engine":           {inside: []string{"policies", "policies/arguments", "policies/limits", "policies/question", "resources", "resources/gate", "resources/memo"}, outside: []string{opa}},
	"policies/explain":          {inside: []string{"policies/engine", "policies/question", "resources"}, outside: []string{opa}},
	"gateway/ratelimit":         {},
	"gateway/authn":             {inside: []string{"resources", "resources/gate", "resources/memo"}, outside: []string{json, jwt}},
	"gateway":                   {inside: []string{"resources", "resources/gate", "resources/wire", "gateway/authn", "gateway/peer/assertion", "gateway/catalogue", "gateway/doors", "gateway/listen", "gateway/peer", "gateway/ratelimit", "gateway/route", "gateway/verdict"}, outside: []string{fiber, fasthttp, netx}},
	"gateway/peer":              {inside: []string{"resources", "resources/wire", "gateway/peer/assertion"}, outside: []string{netx}},
	"gateway/peer/exchange":     {inside: []string{"resources", "resources/memo", "gateway/peer"}, outside: []string{oauth, syncExt}},
	"gateway/private":           {inside: []string{"gateway", "gateway/authn", "gateway/peer/assertion", "gateway/route", "gateway/verdict", "policies", "policies/compare/people", "resources", "resources/decisions", "resources/gate", "resources/health", "resources/wire", "store/decisionlog"}},
	"gateway/route":             {inside: []string{"resources"}},
	"gateway/catalogue":         {inside: []string{"resources", "gateway/route"}},
	"gateway/verdict":           {inside: []string{"resources", "resources/atonce", "gateway/route"}},
	"gateway/doors":             {inside: []string{"resources", "resources/wire", "gateway/catalogue", "gateway/route", "gateway/verdict"}},
	"gateway/doors/explain":     {inside: []string{"resources", "gateway/doors", "gateway/verdict"}},
	"gateway/doors/preview":     {inside: []string{"resources", "gateway/doors", "gateway/verdict"}},
	"gateway/doors/extauthz":    {inside: []string{"resources", "resources/wire", "gateway/authn", "gateway/doors", "gateway/route"}, outside: []string{grpc, envoy, genproto, protobuf}},
	"gateway/doors/mcp":         {inside: []string{"resources", "resources/atonce", "resources/definition", "resources/memo", "resources/wire", "gateway/doors", "gateway/doors/mcp/message", "gateway/peer/assertion", "gateway/route", "gateway/verdict"}},
	"gateway/doors/mcp/own":     {inside: []string{"resources", "gateway/doors", "gateway/doors/mcp", "gateway/doors/mcp/tools"}, outside: []string{mcpsdk}},
	"gateway/doors/mcp/tools":   {inside: []string{"resources"}, outside: []string{mcpsdk, jsonschema}},
	"gateway/doors/mcp/message": {inside: []string{"resources", "resources/wire"}, outside: []string{json}},
	"gateway/doors/forwardauth": {inside: []string{"resources", "gateway/catalogue", "gateway/doors", "gateway/route"}},
	"gateway/doors/e3":          {inside: []string{"resources", "resources/wire", "gateway/doors", "gateway/verdict"}},
	"gateway/listen":            {inside: []string{"resources", "resources/wire"}},
	"gateway/doors/authzen":     {inside: []string{"resources", "resources/wire", "gateway/catalogue", "gateway/doors", "gateway/doors/mcp", "gateway/route", "gateway/verdict"}},
	"gateway/console":           {inside: []string{"resources", "resources/gate", "gateway"}, outside: []string{json, oidc, oauth}},
	"gateway/client":            {alone: "gateway/client"},

	"gateway/peer/assertion": {inside: []string{"resources", "gateway/authn"}, outside: []string{jwt}},

	"gateway/client/clienttest": {alone: "gateway/client", inside: []string{"gateway/client"}},

	"cmd/portcullis":           {all: true, inside: []string{"cmd/portcullis/bootclock", "cmd/portcullis/config", "cmd/portcullis/demo", "cmd/portcullis/masterkey", "cmd/portcullis/observe", "cmd/portcullis/provision", "cmd/portcullis/scratch", "cmd/portcullis/tickets", "cmd/portcullis/tracing"}},
	"cmd/portcullis/bootclock": {outside: []string{sysExt}},
	"cmd/portcullis/config":    {inside: []string{"gateway", "gateway/authn", "gateway/doors/authzen", "gateway/listen", "gateway/ratelimit", "gateway/route", "policies/bundles", "policies/engine", "resources", "resources/firewall", "resources/users"}, outside: []string{flags, yaml}},
	"cmd/portcullis/demo":      {inside: []string{"gateway/authn", "resources", "resources/access", "store", "store/records"}},
	"cmd/portcullis/masterkey": {inside: []string{"cmd/portcullis/scratch", "resources", "resources/durable", "store", "store/records", "store/sqlite"}},
	"cmd/portcullis/provision": {},
	"cmd/portcullis/observe":   {inside: []string{"gateway", "gateway/authn", "gateway/catalogue", "gateway/doors/mcp", "policies/engine", "resources", "resources/gate", "resources/outbox", "resources/wire", "store", "store/decisionlog", "store/rolecache"}, outside: []string{metrics}},
	"cmd/portcullis/scratch":   {},
	"cmd/portcullis/tickets":   {inside: []string{"gateway/peer/assertion"}, outside: []string{mcpsdk}},
	"cmd/portcullis/tracing":   {inside: []string{"gateway", "gateway/ratelimit", "gateway/verdict", "resources", "store", "store/rolecache"}, outside: []string{mongodb, otel}},

	"test": {},

	"test/api":         {},
	"test/console":     {outside: []string{chromedp, cdproto, zitadel}},
	"test/cli":         {inside: []string{"store", "store/records", "store/sqlite", "test/servers"}, outside: []string{grpc, otlp, protobuf}},
	"test/faults":      {},
	"test/proxies":     {outside: []string{mcpsdk}},
	"test/docs":        {},
	"test/doors":       {},
	"test/mcp":         {outside: []string{mcpsdk}},
	"test/raw":         {},
	"test/consistency": {all: true},
	"test/flood":       {},
	"test/load":        {all: true, peers: true},
	"test/attacks":     {all: true},
	"test/clients":     {},
	"test/interop":     {},

	"test/harness": {
		inside:  []string{"gateway/authn", "resources", "store", "store/records", "store/sqlite", "store/mongodb", "test/binary", "test/contract", "test/must", "test/secrets", "test/servers", "test/tier"},
		outside: []string{jwt, mongodb},
	},
	"test/contract": {inside: []string{"resources/apidoc"}, outside: []string{schema}},
	"test/secrets":  {},
	"test/servers":  {inside: []string{"cmd/portcullis/scratch", "test/tier"}, outside: []string{mongodb, redis}},
	"test/overlay":  {inside: []string{"test/binary"}},
	"test/binary":   {},
	"test/child":    {},
	"test/must":     {},
	"test/tier":     {},
	"test/prose":    {},
}

// testPackages has the folders of packages for tests.
var testPackages = []string{"test", "gateway/client/clienttest", "resources/areatest", "store/storetest", "policies/policytest"}

// forbidden returns the imports of a package (its folder in the module) that the table does not allow. A test file may
// also import every package of the module outside cmd, and every module in a row: it may test the package with its real
// neighbours.
func forbidden(pkg string, imports []string, isTest bool) []string {
	r, ok := mayImport[pkg]
	if !ok {
		return []string{"package " + pkg + " has no row in the table"}
	}
	var problems []string
	for _, imp := range imports {
		if !allowed(pkg, r, imp, isTest) {
			problems = append(problems, pkg+" must not import "+imp)
		}
	}
	return problems
}

func allowed(pkg string, r row, imp string, isTest bool) bool {
	if inside, ok := cutModule(imp); ok {
		switch {
		case isBelow(inside, "cmd"):
			return slices.Contains(r.inside, inside) || isTest && inside == pkg
		case isOneOf(inside, testPackages) && !isTest && !isOneOf(pkg, testPackages):
			return false
		case isTest && r.alone != "":
			return isBelow(inside, r.alone)
		case r.all || isTest:
			return true
		default:
			return slices.Contains(r.inside, inside)
		}
	}
	if imp == "C" {
		return false // the binary is static
	}
	if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") {
		return true // the standard library
	}
	if isOneOf(imp, []string{cedar, casbin}) {
		return r.peers && isTest
	}
	if r.all || isOneOf(imp, r.outside) {
		return true
	}
	if isTest && r.alone == "" {
		for _, other := range mayImport {
			if isOneOf(imp, other.outside) {
				return true
			}
		}
	}
	return false
}

// cutModule returns the folder of an import in the module, false for an import of another module.
func cutModule(imp string) (string, bool) {
	if imp == module {
		return ".", true
	}
	return strings.CutPrefix(imp, module+"/")
}

func isBelow(p, prefix string) bool { return p == prefix || strings.HasPrefix(p, prefix+"/") }

func isOneOf(imp string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return isBelow(imp, p) })
}

// examine checks the imports of every Go file below root. seen has the number of files of each package.
func examine(root string) (problems []string, seen map[string]int, err error) {
	seen = map[string]int{}
	err = goFiles(root, func(p string) error {
		pkg := path.Dir(p)
		seen[pkg]++
		imports, err := importsOf(filepath.Join(root, filepath.FromSlash(p)))
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", p, err))
			return nil
		}
		for _, f := range forbidden(pkg, imports, strings.HasSuffix(p, "_test.go")) {
			problems = append(problems, p+": "+f)
		}
		return nil
	})
	return problems, seen, err
}

// goFiles calls visit with each Go file below root, under any build constraints. It skips the folders that the go
// command skips.
func goFiles(root string, visit func(p string) error) error {
	return fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && (strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.Type().IsRegular() && path.Ext(p) == ".go":
			return visit(p)
		}
		return nil
	})
}

func importsOf(file string) ([]string, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var imports []string
	for _, spec := range parsed.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		imports = append(imports, imp)
	}
	return imports, nil
}

func TestNobodyImportsWhatTheTableForbids(t *testing.T) {
	problems, seen := must.Two(examine(".."))(t)
	for _, pkg := range []string{"resources", "store", "policies", "policies/engine", "gateway", "gateway/authn", "cmd/portcullis", "test"} {
		if seen[pkg] == 0 {
			t.Errorf("no Go file of %s was read", pkg)
		}
	}
	if len(problems) > 0 {
		t.Errorf("%d imports against the table:\n%s", len(problems), strings.Join(problems, "\n"))
	}
}
