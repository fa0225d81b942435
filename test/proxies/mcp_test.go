package proxies_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portcullis-authz/portcullis/test/tier"
)

// toolServer is an MCP server of the official SDK, behind a proxy. scrapped counts the calls of its tool.
func toolServer(t *testing.T, scrapped *atomic.Int64) *httptest.Server {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "widgets", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "scrap_widget"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		scrapped.Add(1)
		return &mcp.CallToolResult{}, nil, nil
	})
	// Its protection of localhost would refuse the host that the proxy passes on.
	s := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: true}))
	t.Cleanup(s.Close)
	return s
}

// TestProxiesTellToolsApart guarantees that a proxy's calls to an MCP server are judged by their headers. A reader lists
// tools and calls none, under any pair of headers and body.
func TestProxiesTellToolsApart(t *testing.T) {
	t.Parallel()
	tier.Check(t)
	w := newWorld(t)
	var scrapped atomic.Int64
	w.service = &service{Server: toolServer(t, &scrapped)}
	for _, name := range slices.Sorted(maps.Keys(proxies)) {
		t.Run(name, func(t *testing.T) {
			p := proxies[name]
			if _, err := exec.LookPath(p.program); err != nil {
				t.Skip(err)
			}
			relay := newRelay(t, w.URL)
			toldApart(t, behind{w, p, relay, p.start(t, w, relay)}, &scrapped)
		})
	}
}

// TestExamplesPassWhatIsRead guarantees the headers of a question in each example with a list of those for the gateway. No
// test runs some of these proxies.
func TestExamplesPassWhatIsRead(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"traefik.yaml", "envoy-http.yaml", "portcullis.lua", "portcullis-apache.lua"} {
		text := strings.ToLower(read(t, filepath.Join(examples, file)))
		for _, name := range []string{
			"authorization", "x-api-key", "x-request-id", "x-consistency", "idempotency-key", "mcp-method", "mcp-name", "mcp-protocol-version",
		} {
			if !strings.Contains(text, name) {
				t.Errorf("%s does not pass %s", file, name)
			}
		}
	}
}

// message is a message of the modern revision, with the version of its body.
func message(method, name, version string) string {
	params := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{},`+
		`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}`, version)
	if name != "" {
		params += fmt.Sprintf(`,"name":%q,"arguments":{}`, name)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params)
}

func toldApart(t *testing.T, b behind, scrapped *atomic.Int64) {
	t.Helper()
	const modern, legacy = "2026-07-28", "2025-11-25"
	list, call := message("tools/list", "", modern), message("tools/call", "scrap_widget", modern)
	plain := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"scrap_widget","arguments":{}}}`
	bob, dan := b.UserToken(t, b.Bob), b.UserToken(t, b.Dan)
	headers := func(version, method, tool string) []string {
		out := []string{"Content-Type", "application/json", "Accept", "application/json, text/event-stream"}
		for name, value := range map[string]string{"Mcp-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": tool} {
			if value != "" {
				out = append(out, name, value)
			}
		}
		return out
	}
	refused := []int{400, 403, 404, 500}
	for name, c := range map[string]struct {
		token, body string
		headers     []string
		want        []int
		calls       int64
	}{
		"a reader lists":                  {bob, list, headers(modern, "tools/list", ""), []int{200}, 0},
		"an admin calls":                  {dan, call, headers(modern, "tools/call", "scrap_widget"), []int{200}, 1},
		"a reader calls":                  {bob, call, headers(modern, "tools/call", "scrap_widget"), []int{403}, 0},
		"no headers":                      {dan, call, headers("", "", ""), refused, 0},
		"no revision":                     {dan, call, headers("", "tools/call", "scrap_widget"), refused, 0},
		"an unknown tool":                 {dan, message("tools/call", "melt", modern), headers(modern, "tools/call", "melt"), refused, 0},
		"a call under a list":             {bob, call, headers(modern, "tools/list", ""), refused, 0},
		"a legacy call under a list":      {bob, plain, headers(modern, "tools/list", ""), refused, 0},
		"a legacy call, legacy headers":   {bob, plain, headers(legacy, "tools/list", ""), refused, 0},
		"a call of a legacy revision":     {bob, message("tools/call", "scrap_widget", legacy), headers(modern, "tools/list", ""), refused, 0},
		"a legacy call without a version": {bob, plain, headers("", "tools/list", ""), refused, 0},
	} {
		before := scrapped.Load()
		status := b.send(t, "POST", "/projects/"+b.Project+"/mcp", c.token, strings.NewReader(c.body), c.headers...)
		if calls := scrapped.Load() - before; !slices.Contains(c.want, status) || calls != c.calls {
			t.Errorf("%s: %d, and %d calls", name, status, calls)
		}
	}
}
