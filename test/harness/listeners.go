package harness

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/portcullis-authz/portcullis/test/contract"
)

// listeners are the addresses in use, and answers unlike the document outside of any test.
var listeners struct {
	sync.Mutex
	kinds  map[string]string
	untold []string
}

// listening notes what a process that has started listens on.
func (g *Gateway) listening(args ...string) {
	listeners.Lock()
	defer listeners.Unlock()
	if listeners.kinds == nil {
		listeners.kinds = map[string]string{}
	}
	kind := contract.EdgeListener
	switch {
	case g.UsersURL == "":
		kind = contract.InnerListener
	case hasStandIn(args):
		kind = contract.StandInListener
	case slices.Contains(args, "--policy-dir"):
		kind = contract.OwnRoutesListener
	}
	listeners.kinds[g.URL], listeners.kinds[g.UsersURL], listeners.kinds[g.HealthURL] = kind, kind, contract.PrivateListener
}

// hasStandIn says whether an upstream is something else than a process under test.
func hasStandIn(args []string) bool {
	for i, arg := range args[:max(0, len(args)-1)] {
		if _, url, _ := strings.Cut(args[i+1], "="); arg == "--upstream" && listeners.kinds[url] != contract.InnerListener {
			return true
		}
	}
	return false
}

// againstDocument compares an exchange with a process under test with the OpenAPI document,
// which listens at the base address.
func againstDocument(base string, x contract.Exchange) []string {
	c, err := contract.Load()
	if err != nil {
		return []string{"the document can't be read: " + err.Error()}
	}
	listeners.Lock()
	kind, ok := listeners.kinds[base]
	listeners.Unlock()
	if !ok {
		return []string{"nobody said what listens at " + base + ": see listening"}
	}
	names := c.Against(kind, x)
	for i, text := range names {
		names[i] = fmt.Sprintf("%s %s%s, answered %d: the document: %s", x.Method, base, x.Target, x.Answer.Status, text)
	}
	return names
}
