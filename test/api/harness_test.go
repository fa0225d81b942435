package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/servers"
)

// binary is the program under test, built once for the whole run.
var binary string

// switches choose, by environment variables, how every gateway of the tests is set up.
var switches = map[string][]string{
	"PORTCULLIS_TEST_EDGE":      {"users"},
	"PORTCULLIS_TEST_PROCESSES": {"two"},
	"PORTCULLIS_TEST_STORE":     {"mongodb", "replicas"},
}

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	for name, may := range switches {
		if value := os.Getenv(name); value != "" && !slices.Contains(may, value) {
			fmt.Fprintf(os.Stderr, "%s is %q: it may be %s or be left out\n", name, value, strings.Join(may, " or "))
			return 2
		}
	}
	if what := missing(); what != "" {
		fmt.Fprintf(os.Stderr, "PORTCULLIS_TEST_STORE=%s needs %s\n", os.Getenv("PORTCULLIS_TEST_STORE"), what)
		return 2
	}
	if onReplicas() { // each request goes to the next one: see balancer
		http.DefaultTransport.(*http.Transport).DisableKeepAlives = true
	}
	waiting()
	dir, err := os.MkdirTemp("", "portcullis-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "portcullis")
	args := []string{"build", "-o", binary}
	if raceEnabled && os.Getenv("PORTCULLIS_TEST_RACE") != "" {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "../../cmd/portcullis")...)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the program under test: %v\n%s", err, out)
		return 2
	}
	defer servers.Stop()
	defer stopShared()
	code := m.Run()
	for _, text := range append(theSecrets.found(), listeners.untold...) {
		fmt.Fprintln(os.Stderr, text)
		code = max(code, 1)
	}
	return code
}

// token is `portcullis token` on the gateway's data folder.
func (g *gatewayProcess) token(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.Command(binary, append([]string{"token", "--data-dir", g.DataDir}, args...)...).Output()
	if err != nil {
		t.Fatalf("portcullis token %v: %v", args, err)
	}
	token := strings.TrimSpace(string(out))
	theSecrets.token(token)
	return token
}

// userToken and serviceToken are tokens of the gateway's own issuer.
func (g *gatewayProcess) userToken(t testing.TB, user string) string {
	t.Helper()
	return g.token(t, "--user", user)
}

func (g *gatewayProcess) serviceToken(t testing.TB, scopes ...string) string {
	t.Helper()
	return g.token(t, "--service", "test", "--scope", strings.Join(scopes, " "))
}

// otherEnding is a token that ends in other letters, whatever its own are.
func otherEnding(token string) string {
	const last = 4
	other := strings.Map(func(c rune) rune {
		if c == 'A' {
			return 'Q'
		}
		return 'A'
	}, token[len(token)-last:])
	return token[:len(token)-last] + other
}

// reply is an answer, read to its end.
type reply struct {
	Status int
	Header http.Header
	Raw    []byte
	// Took is from the request to the end of the answer.
	Took time.Duration
	// Body is the JSON object of the answer, nil where it is none.
	Body map[string]any
	// Last says that the server ends the connection with this answer.
	Last bool
	// Tries is how often it was asked; all but the last time nothing was decided.
	Tries int
}

// missing says what the set-up needs and this machine lacks.
func missing() string {
	if _, err := servers.Mongod(); onMongoDB() && err != nil {
		return "a mongod in PATH or in " + servers.EnvMongod
	}
	if _, err := exec.LookPath("redis-server"); onReplicas() && err != nil {
		return "a redis-server in PATH"
	}
	return ""
}

// waiting has more tests run at once than there are processors, unless their number was
// given: they mostly wait, for ends of limits, and on MongoDB for its disk and for leases.
func waiting() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	n := 4
	if onMongoDB() {
		n = 6
	}
	_ = flag.Set("test.parallel", strconv.Itoa(max(n, runtime.GOMAXPROCS(0)))) // it is a number
}

// call makes one request. body is JSON text, or "" for none; headers are name, value pairs.
//
// On a busy machine a decision may take more than its 50 ms, or the read of the store before
// it more than its 250 ms: that is a 503 of which nothing was done, and is asked again.
func call(t testing.TB, method, url, token, body string, headers ...string) reply {
	t.Helper()
	for try := 1; ; try++ {
		x, err := exchanged(method, url, token, body, headers...)
		if err != nil {
			t.Fatalf("%s %s: %v", method, url, err)
		}
		for _, text := range x.against() {
			t.Error(text)
		}
		r := x.answer
		r.Tries = try
		if !r.undecided() || try == 20 {
			return r
		}
	}
}

// undecided says whether no decision was made in time. A change that loses to others for
// five seconds is answered with the same text as a store that is not read in time; that is
// never excused.
func (r reply) undecided() bool {
	return r.Status == 503 && (saysUndecided(r.Raw) ||
		bytes.Contains(r.Raw, []byte("store is not available now")) && r.Took < 3*time.Second)
}

// saysUndecided finds the texts that stand for no decision in time, and for nothing else.
func saysUndecided(text []byte) bool {
	return bytes.Contains(text, []byte("authorization state unavailable")) || bytes.Contains(text, []byte("policy evaluation took too long")) || bytes.Contains(text, []byte("decision could not be made"))
}

// tryCall is call for a server that may be gone.
func tryCall(method, url, token, body string, headers ...string) (reply, error) {
	x, err := exchanged(method, url, token, body, headers...)
	if err != nil {
		return reply{}, err
	}
	if found := x.against(); len(found) > 0 {
		listeners.Lock()
		defer listeners.Unlock()
		listeners.untold = append(listeners.untold, found...)
	}
	return x.answer, nil
}

func exchanged(method, url, token, body string, headers ...string) (exchange, error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return exchange{}, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header[http.CanonicalHeaderKey(headers[i])] = append(req.Header.Values(headers[i]), headers[i+1])
	}
	began := time.Now()
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return exchange{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	r := reply{Status: resp.StatusCode, Header: resp.Header, Last: resp.Close}
	if r.Raw, err = io.ReadAll(resp.Body); err != nil {
		return exchange{}, err
	}
	r.Took = time.Since(began)
	dec := json.NewDecoder(bytes.NewReader(r.Raw))
	dec.UseNumber()
	_ = dec.Decode(&r.Body)
	theSecrets.made(r)
	return exchange{method: method, url: url, header: req.Header, body: []byte(body), answer: r}, nil
}
