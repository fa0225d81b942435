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
	// cloudHeld is how many roles each user holds.
	cloudHeld = 3
)

// cloudRoles are as many roles as a real cloud has, with permissions that overlap as theirs do.
func cloudRoles() []role {
	r := rand.New(rand.NewPCG(1, 1))
	permission := func(i int) string { return fmt.Sprintf("project:kind%04d:verb%02d", i/10, i%10) }
	roles := make([]role, cloudRoleCount)
	for n := range roles {
		size, from := cloudGrants, r.IntN(cloudPermissions)
		if n == 0 {
			size = cloudLargest
		}
		roles[n].id, roles[n].scope = fmt.Sprintf("cloud_%04d", n), resources.RoleScopeProject
		for i := range size {
			roles[n].permissions = append(roles[n].permissions, permission((from+i)%cloudPermissions))
		}
		roles[n].asked = roles[n].permissions
	}
	return roles
}

// BenchmarkLoadOfPolicyDiff prints what it costs to say what one grant more changes, in a tree of a real cloud's size: by
// itself, and with the real users of a large store.
func BenchmarkLoadOfPolicyDiff(b *testing.B) {
	program, roles := build(b), cloudRoles()
	if file := os.Getenv(envRealRoles); file != "" {
		roles = asking(realRoles(b, file))
	}
	old := writeTree(b, roles)
	more := slices.Clone(roles)
	const changed = 7
	more[changed].permissions = append(slices.Clone(more[changed].permissions), "project:kind9999:paint")
	fresh := writeTree(b, more)
	compare(b, program, "no users", old, fresh)
	w := newWorld(b, *large, cloudHeld, old, roles)
	found := compare(b, program, fmt.Sprintf("%d users", *large), old, fresh, "--data-dir", w.dir)
	if found.People.Users != *large || len(found.People.Gain) == 0 || found.People.Gain[0].Users != *large*cloudHeld/len(roles) && *large%len(roles) == 0 {
		b.Errorf("%+v", found.People)
	}
	b.ReportMetric(float64(found.People.FactSets), "fact-sets")
}

// compared is what is read of the report of `policy diff`.
type compared struct {
	Questions int
	NewAccess []struct{ Entry, Action, Role string } `json:"new_access"`
	People    struct {
		Users, Questions int
		FactSets         int `json:"fact_sets"`
		Gain             []struct{ Users int }
	}
}

// compare runs the command and prints what it took.
func compare(b *testing.B, program, title, old, fresh string, args ...string) (found compared) {
	b.Helper()
	cmd := exec.Command(program, append([]string{"policy", "diff", old, fresh, "--json", "--names", "1"}, args...)...)
	began := time.Now()
	out, err := cmd.Output()
	took := time.Since(began)
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 {
		b.Fatalf("policy diff: %v", err)
	}
	if err := json.Unmarshal(out, &found); err != nil {
		b.Fatal(err)
	}
	if !slices.ContainsFunc(found.NewAccess, func(row struct{ Entry, Action, Role string }) bool {
		return row.Entry == "decision" && row.Action == "project:kind9999:paint"
	}) {
		b.Error("the grant is not found")
	}
	memory := int64(0)
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		memory = usage.Maxrss >> 10
	}
	fmt.Printf("policy diff, one grant more, %s: %.0f s, %.0f s of CPU, %d MiB; %d questions, %d rows; %d users, %d sets of facts, %d questions about them\n",
		title, took.Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), memory,
		found.Questions, len(found.NewAccess), found.People.Users, found.People.FactSets, found.People.Questions)
	return found
}
