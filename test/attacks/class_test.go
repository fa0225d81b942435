package attacks_test

import (
	"fmt"
	"testing"

	"github.com/portcullis-authz/portcullis/test/tier"
)

// class is a kind of attack.
type class struct {
	name string
	// floor is how many cases there are at least: none is lost unseen.
	floor int
	// args are the flags of its program beside those of every one.
	args func(t testing.TB) []string
	run  func(w *attacksWorld, r *refusals)
}

// classes are all of them; a mutant names the one that must find it out.
var classes = []class{
	{name: "path", floor: 6500, run: pathAttacks},
	{name: "framing", floor: 1500, run: framingAttacks},
	{name: "headers", floor: 1800, run: headerAttacks},
	{name: "tokens", floor: 2200, run: tokenAttacks},
	{name: "tenancy", floor: 12000, run: tenancyAttacks},
	{name: "keys", floor: 530, run: keyAttacks},
	{name: "roles", floor: 385, run: roleAttacks},
	{name: "input", floor: 8800, run: inputAttacks},
	{name: "logs", floor: 1600, args: logsArgs, run: logAttacks},
	{name: "load", floor: 7250, args: loadArgs, run: loadAttacks},
}

// TestAttacksAreRefused, each as stated; the number of cases of each class is printed.
func TestAttacksAreRefused(t *testing.T) {
	tier.Check(t)
	for _, c := range classes {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "load" { // which measures, and is before the others
				t.Parallel()
			}
			r := c.attacked(t, builder.Program(t, ""))
			for _, text := range r.names {
				t.Error(text)
			}
			if r.cases < c.floor {
				t.Errorf("%d cases, there were at least %d", r.cases, c.floor)
			}
			fmt.Printf("attack cases: %-8s %5d\n", c.name, r.cases)
		})
	}
}

// attacked runs the class against a program, which is started for it.
func (c class) attacked(t testing.TB, binary string) *refusals {
	t.Helper()
	w := c.world(t, binary)
	r := &refusals{w: w}
	c.run(w, r)
	r.searchOutput()
	return r
}

func (c class) world(t testing.TB, binary string) *attacksWorld {
	t.Helper()
	var args []string
	if c.args != nil {
		args = c.args(t)
	}
	return newWorld(t, binary, args...)
}
