package load_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// quick compare warm vs bare; PERFOUT records perf of both.
func BenchmarkQuick(b *testing.B) {
	r := &run{b: b, program: build(b)}
	few := loadRoles(10)
	w := newWorld(b, *asked, 1, writeTree(b, few), few)
	pinClient(b)
	warm := r.gateway(inBase, w)
	bare := r.add("bare fiber handler", r.must(startBare(b)), newQuestions(w, everybody(w), w.request), "", 2000)
	r.compare("warm to bare", warm, bare, 1.3)
	if out := os.Getenv("PERFOUT"); out != "" {
		for name, c := range map[string]*contender{"warm": warm, "bare": bare} {
			rec := exec.Command("perf", "record", "-F", "1999", "-g", "-o", out+"-"+name+".data", "-p", strconv.Itoa(c.p.pid), "--", "sleep", "4")
			rec.Stderr = os.Stderr
			if err := rec.Start(); err != nil {
				b.Fatal(err)
			}
			end := time.Now().Add(4500 * time.Millisecond)
			if _, err := c.client.run(*connections, func(int, time.Time) bool { return time.Now().After(end) }); err != nil {
				b.Fatal(err)
			}
			rec.Wait()
		}
	}
	for turn := range *pairs {
		for _, c := range r.comparisons {
			if err := c.pair(turn); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, c := range []*contender{warm, bare} {
		fmt.Println(c.name, "cost", medianOf(c.costs), "rate", medianOf(c.rates).median)
	}
	fmt.Println("ratio", medianOf(r.comparisons[0].ratios))
}
