package consistency_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/must"
)

// level is the resources that a gateway holds.
type level struct {
	goroutines, descriptors int
	// resident is its memory, and heap the heap after a collection; in MiB.
	resident, heap int
	// answered is the number of answers to good clients so far, of all gateways.
	answered int
}

func (l level) String() string {
	return fmt.Sprintf("%4d goroutines, %4d descriptors, %4d MiB resident, %4d MiB of heap", l.goroutines, l.descriptors, l.resident, l.heap)
}

// How far a gateway may be above its level before a storm, after the bad clients have gone. A storm has hundreds of
// connections, so a leak on each exceeds it. Good clients fill the caches: each question at a new revision adds its
// facts and its answer, up to 100,000.
const (
	moreGoroutines  = 32
	moreDescriptors = 16
	moreMemory      = 32 // MiB, and a quarter, and as many KiB for each question answered meanwhile:
	keptOfQuestion  = 4
)

// above returns "" if the level is within the tolerance above the other one, or else both and the limit.
func (l level) above(before level) string {
	more := moreMemory + (l.answered-before.answered)*keptOfQuestion>>10
	limit := level{
		goroutines: before.goroutines + moreGoroutines, descriptors: before.descriptors + moreDescriptors,
		resident: before.resident*5/4 + more, heap: before.heap*5/4 + more,
	}
	if l.goroutines <= limit.goroutines && l.descriptors <= limit.descriptors && l.resident <= limit.resident && l.heap <= limit.heap {
		return ""
	}
	return fmt.Sprintf("%s; before: %s; at most: %s", l, before, limit)
}

// backWithin is the time for a gateway to return to its level: idle workers of the edge end after ten seconds.
const backWithin = 25 * time.Second

// rest waits until the gateway is back at the level, or backWithin has passed.
func (r *replica) rest(t testing.TB, before level, answered int) (now level, beyond string) {
	t.Helper()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); ; <-tick.C {
		now = r.level(t, answered)
		if beyond = now.above(before); beyond == "" || time.Since(began) > backWithin {
			return now, beyond
		}
	}
}

var (
	saysGoroutines = regexp.MustCompile(`(?m)^go_goroutines (\S+)$`)
	saysHeap       = regexp.MustCompile(`(?m)^go_memstats_heap_alloc_bytes (\S+)$`)
	saysResident   = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)
)

// level measures the gateway after a collection. Its requests use one connection.
func (r *replica) level(t testing.TB, answered int) level {
	t.Helper()
	r.private200(t, "/debug/pprof/heap?gc=1")
	metrics := r.private200(t, "/metrics")
	r.mu.Lock()
	pid := r.cmd.Process.Pid
	r.mu.Unlock()
	open := must.Get(os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)))(t)
	status := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))(t)
	return level{
		goroutines: number(t, saysGoroutines, metrics), descriptors: len(open),
		resident: number(t, saysResident, status) >> 10, heap: number(t, saysHeap, metrics) >> 20, answered: answered,
	}
}

func (r *replica) private200(t testing.TB, path string) []byte {
	t.Helper()
	resp := must.Get(http.Get(r.private + path))(t)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v", path, resp.StatusCode, err)
	}
	return body
}

func number(t testing.TB, form *regexp.Regexp, text []byte) int {
	t.Helper()
	match := form.FindSubmatch(text)
	if match == nil {
		t.Fatalf("no %s in %.200q", form, text)
	}
	n := must.Get(strconv.ParseFloat(string(match[1]), 64))(t)
	return int(n)
}
