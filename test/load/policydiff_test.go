package load_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// The size of a real cloud's predefined roles.
const (
	cloudRoleCount   = 2461
	cloudPermissions = 13790
	cloudGrants      = 60 // of each role but the largest
	cloudLargest     = 13568
	// cloudHeld is the number of roles of each user.
	cloudHeld = 3
)

// cloudRoles returns as many roles as a real cloud has, with overlapping permissions.
func cloudRoles() []role {
	r := rand.New(rand.NewPCG(1, 1))
	permission := func(i int) string { return fmt.Sprintf("project:kind%04d:verb%02d", i/10, i%10) }
	roles := make([]role, cloudRoleCount)
	for n := range roles {
		size, start := cloudGrants, r.IntN(cloudPermissions)
		if n == 0 {
			size = cloudLargest
		}
		roles[n].id, roles[n].scope = fmt.Sprintf("cloud_%04d", n), resources.RoleScopeProject
		for i := range size {
			roles[n].permissions = append(roles[n].permissions, permission((start+i)%cloudPermissions))
		}
		roles[n].asked = roles[n].permissions
	}
	return roles
}

// BenchmarkLoadOfPolicyDiff prints the cost of `policy diff` for one more grant in a tree of a real cloud's size,
// without users and with those of a large store.
func BenchmarkLoadOfPolicyDiff(b *testing.B) {
	program, roles := build(b), cloudRoles()
	if file := os.Getenv(envRealRoles); file != "" {
		roles = asking(realRoles(b, file))
	}
	old := writeTree(b, roles)
	more := slices.Clone(roles)
	const changed = 7
	more[changed].permissions = append(slices.Clone(more[changed].permissions), "project:kind9999:paint")
	changedTree := writeTree(b, more)
	compare(b, program, "no users", old, changedTree)
	w := newWorld(b, *large, cloudHeld, old, roles)
	report := compare(b, program, fmt.Sprintf("%d users", *large), old, changedTree, "--data-dir", w.dir)
	if report.People.Users != *large || len(report.People.Gain) == 0 || report.People.Gain[0].Users != *large*cloudHeld/len(roles) && *large%len(roles) == 0 {
		b.Errorf("%+v", report.People)
	}
	b.ReportMetric(float64(report.People.FactSets), "fact-sets")
}

// compared is a part of the report of `policy diff`.
type compared struct {
	Questions int
	NewAccess []struct{ Entry, Action, Role string } `json:"new_access"`
	People    struct {
		Users, Questions int
		FactSets         int `json:"fact_sets"`
		Gain             []struct{ Users int }
	}
}

// compare runs the command and prints its time and memory.
func compare(b *testing.B, program, title, old, changedTree string, args ...string) (report compared) {
	b.Helper()
	cmd := exec.Command(program, append([]string{"policy", "diff", old, changedTree, "--json", "--names", "1"}, args...)...)
	began := time.Now()
	out, err := cmd.Output()
	took := time.Since(began)
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 {
		b.Fatalf("policy diff: %v", err)
	}
	if err := json.Unmarshal(out, &report); err != nil {
		b.Fatal(err)
	}
	if !slices.ContainsFunc(report.NewAccess, func(row struct{ Entry, Action, Role string }) bool {
		return row.Entry == "decision" && row.Action == "project:kind9999:paint"
	}) {
		b.Error("the report lacks the new grant")
	}
	memory := int64(0)
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		memory = usage.Maxrss >> 10
	}
	fmt.Printf("policy diff, one grant more, %s: %.0f s, %.0f s of CPU, %d MiB; %d questions, %d rows; %d users, %d sets of facts, %d questions about them\n",
		title, took.Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), memory,
		report.Questions, len(report.NewAccess), report.People.Users, report.People.FactSets, report.People.Questions)
	return report
}
