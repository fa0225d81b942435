//go:build !race

package gateway_test

// The race detector allocates: there is nothing to hold to a bound under it.

import (
	"strings"
	"testing"
)

// TestAWarmAuthorizeTakesFewAllocations guarantees that one E3 with a cached token allocates at
// most ten times more than the framework by itself, whether the caller names the request or not.
func TestAWarmAuthorizeTakesFewAllocations(t *testing.T) {
	const most = 10
	bare := testing.AllocsPerRun(200, again(t, bareFiber(t), benchQuestion()))
	for name, header := range map[string]string{"named by the caller": "", "named here": "X-Request-ID: bench\r\n"} {
		t.Run(name, func(t *testing.T) {
			e, question := warm(t, 0)
			got := testing.AllocsPerRun(200, again(t, e.dial(t).Conn, strings.Replace(question, header, "", 1)))
			if t.Logf("%.0f allocations, the framework %.0f", got, bare); got-bare > most {
				t.Errorf("%.0f allocations beyond the framework's own, want at most %d", got-bare, most)
			}
		})
	}
}
