package harness

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/binary"
	"github.com/portcullis-authz/portcullis/test/secrets"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// Binary is the program under test, built once for the whole run.
var Binary string

// EnvProgram names a program to test in place of the built one. Tests of mutants set it for the tests that they run.
const EnvProgram = "PORTCULLIS_TEST_PROGRAM"

// switches choose, by environment variables, how every gateway of the tests is set up.
var switches = map[string][]string{
	"PORTCULLIS_TEST_EDGE":      {"users"},
	"PORTCULLIS_TEST_PROCESSES": {"two"},
	"PORTCULLIS_TEST_STORE":     {"mongodb", "replicas"},
}

// Run builds the program under test, runs the tests of a package, and looks for secrets in all that the
// program wrote. A package calls it from its TestMain.
func Run(m *testing.M) int {
	for name, may := range switches {
		if value := os.Getenv(name); value != "" && !slices.Contains(may, value) {
			fmt.Fprintf(os.Stderr, "%s is %q: it may be %s or be left out\n", name, value, strings.Join(may, " or "))
			return 2
		}
	}
	if title := missing(); title != "" {
		fmt.Fprintf(os.Stderr, "PORTCULLIS_TEST_STORE=%s needs %s\n", os.Getenv("PORTCULLIS_TEST_STORE"), title)
		return 2
	}
	if OnReplicas() { // each request goes to the next one: see balancer
		http.DefaultTransport.(*http.Transport).DisableKeepAlives = true
	}
	waiting()
	defer servers.Stop()
	defer stopShared()
	err := servers.Temporary()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if Binary = os.Getenv(EnvProgram); Binary != "" {
		fmt.Fprintln(os.Stderr, EnvProgram+" is "+Binary)
	} else if Binary, err = binary.Build("../..", raceEnabled && os.Getenv("PORTCULLIS_TEST_RACE") != ""); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	code := m.Run()
	for _, text := range append(theSecrets.Found(), listeners.untold...) {
		fmt.Fprintln(os.Stderr, text)
		code = max(code, 1)
	}
	return code
}

// missing says what the set-up needs and this machine lacks.
func missing() string {
	if _, err := servers.Mongod(); OnMongoDB() && err != nil {
		return "a mongod in PATH or in " + servers.EnvMongod
	}
	if _, err := exec.LookPath("redis-server"); OnReplicas() && err != nil {
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
	if OnMongoDB() {
		n = 6
	}
	_ = flag.Set("test.parallel", strconv.Itoa(max(n, runtime.GOMAXPROCS(0)))) // it is a number
}

// theSecrets are those of the whole run.
var theSecrets secrets.Secrets
