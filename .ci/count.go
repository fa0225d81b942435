// Count runs `go test -json` with the arguments it is given, shows what failed, names what
// was skipped and what is left to another tier, passes on the lines in which tests say what
// they have counted, and closes with one line: "N passed, N failed, N skipped".
//
// After a "--" come the arguments of a further run, which counts in the same line. It may
// begin with settings of its environment, NAME=value, and its packages are shown with them.
//
// Further arguments that begin with "without" and a reason are a run that can't be made: all
// tests of its packages are skipped. Arguments that begin with "left" name packages of another
// tier: they are shown at the end.
//
// Tests and sub-tests count alike. A package that fails without a failing test (it does not
// build, TestMain gave up, a panic, a timeout) counts as one failure.
//
// gotestsum can't take its place: it counts a test that another tier runs as one that nobody runs, has no count for a run
// that can't be made, and has no one line for several runs.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// event is a line of `go test -json`.
type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

// leftTo begins the reason of a test that is skipped since another tier runs it: see test/tier.
const leftTo = "left to "

// counted begins a line in which a test says how much it has tried; it is shown as it is.
const counted = "attack cases: "

// name is a test in its package.
type name struct{ pkg, test string }

// tally is what the events have said so far.
type tally struct {
	out                     io.Writer
	settings                string // of the run under way, shown with its packages
	passed, failed, skipped int
	output                  map[name]*strings.Builder // kept until the test has ended
	running                 map[string][]string       // package -> tests that have not ended
	inPackage               map[string]int            // package -> tests that have ended
	failedIn                map[string]int            // package -> tests that have failed
	builds                  map[string]*strings.Builder
	skips, failures         []string
	left                    map[string][]string // package -> tests that another tier runs
}

func main() {
	t := newTally(os.Stdout)
	var errs []error
	for rest, more := os.Args[1:], true; more; {
		args := rest
		if at := slices.Index(rest, "--"); at < 0 {
			more = false
		} else {
			args, rest = rest[:at], rest[at+1:]
		}
		switch args[0] {
		case "without":
			errs = append(errs, t.without(args[1], args[2:]))
		case "left":
			for _, pkg := range args[1:] {
				t.left[pkg] = []string{"all tests"}
			}
		default:
			errs = append(errs, run(t, args))
		}
	}
	ok := t.close(errors.Join(errs...))
	if !ok {
		os.Exit(1)
	}
}

func newTally(out io.Writer) *tally {
	return &tally{
		out: out, output: map[name]*strings.Builder{}, running: map[string][]string{},
		inPackage: map[string]int{}, failedIn: map[string]int{}, builds: map[string]*strings.Builder{}, left: map[string][]string{},
	}
}

// run feeds the tally; its error is that of `go test`.
func run(t *tally, args []string) error {
	env, args := settings(args)
	t.settings = strings.Join(append([]string{""}, env...), " ")
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := t.read(pipe)
	return errors.Join(cmd.Wait(), readErr)
}

// settings are what the arguments of a run begin with.
func settings(args []string) (env, rest []string) {
	n := 0
	for n < len(args) && !strings.HasPrefix(args[n], "-") && strings.Contains(args[n], "=") {
		n++
	}
	return args[:n], args[n:]
}

// without counts the tests of a run that can't be made.
func (t *tally) without(reason string, args []string) error {
	env, args := settings(args)
	list := []string{"test", "-list", "."}
	for _, arg := range args {
		if strings.HasPrefix(arg, "./") {
			list = append(list, arg)
		}
	}
	out, err := exec.Command("go", list...).Output()
	if err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(list, " "), err)
	}
	count := 0
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "Test") {
			count++
		}
	}
	t.skipped += count
	t.skips = append(t.skips, fmt.Sprintf("%s: all of the %d tests of %s: %s", strings.Join(env, " "), count, strings.Join(list[3:], " "), reason))
	return nil
}

// read takes events to the end. A line that is none is shown as it is.
func (t *tally) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil {
				t.add(e)
			} else {
				fmt.Fprintf(t.out, "%s", line)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *tally) add(e event) {
	e.Package += t.settings
	switch {
	case e.Action == "build-output":
		buffer(t.builds, e.ImportPath).WriteString(e.Output)
	case e.Action == "output":
		if strings.HasPrefix(e.Output, counted) {
			fmt.Fprint(t.out, e.Output)
		}
		buffer(t.output, name{e.Package, e.Test}).WriteString(e.Output)
	case e.Action == "run":
		t.running[e.Package] = append(t.running[e.Package], e.Test)
	case e.Action != "pass" && e.Action != "fail" && e.Action != "skip":
	case e.Test != "":
		t.endTest(e)
	default:
		t.endPackage(e)
	}
}

func buffer[K comparable](m map[K]*strings.Builder, key K) *strings.Builder {
	if m[key] == nil {
		m[key] = &strings.Builder{}
	}
	return m[key]
}

func (t *tally) endTest(e event) {
	key := name{e.Package, e.Test}
	text := buffer(t.output, key).String()
	delete(t.output, key)
	t.running[e.Package] = slices.DeleteFunc(t.running[e.Package], func(s string) bool { return s == e.Test })
	t.inPackage[e.Package]++
	switch e.Action {
	case "pass":
		t.passed++
	case "skip":
		why := reason(text)
		if strings.Contains(why, leftTo) {
			if test, _, _ := strings.Cut(e.Test, "/"); !slices.Contains(t.left[e.Package], test) {
				t.left[e.Package] = append(t.left[e.Package], test)
			}
			return
		}
		t.skipped++
		t.skips = append(t.skips, e.Package+" "+e.Test+why)
	case "fail":
		t.fail(e.Package, e.Test)
		fmt.Fprintf(t.out, "\nFAIL %s %s\n%s", e.Package, e.Test, indent(text))
	}
}

func (t *tally) fail(pkg, what string) {
	t.failed++
	t.failedIn[pkg]++
	t.failures = append(t.failures, pkg+" "+what)
}

func (t *tally) endPackage(e event) {
	text := buffer(t.output, name{e.Package, ""}).String()
	delete(t.output, name{e.Package, ""})
	if e.Action != "fail" {
		if t.inPackage[e.Package] > 0 {
			fmt.Fprintf(t.out, "ok   %s %d tests, %.1fs\n", e.Package, t.inPackage[e.Package], e.Elapsed)
		}
		return
	}
	for _, test := range t.running[e.Package] {
		key := name{e.Package, test}
		fmt.Fprintf(t.out, "\nFAIL %s %s did not end\n%s", e.Package, test, indent(buffer(t.output, key).String()))
		delete(t.output, key)
		t.fail(e.Package, test+" (did not end)")
	}
	what := "(outside a test)"
	if e.FailedBuild != "" {
		what = "(does not build)"
		text = buffer(t.builds, e.FailedBuild).String() + text
	}
	if t.failedIn[e.Package] == 0 {
		t.fail(e.Package, what)
	} else {
		what = fmt.Sprintf("%d tests failed", t.failedIn[e.Package])
	}
	fmt.Fprintf(t.out, "\nFAIL %s %s, %.1fs\n%s\n", e.Package, what, e.Elapsed, indent(text))
}

// close prints the end of the run and tells whether it may be called a success.
func (t *tally) close(err error) bool {
	if len(t.left) > 0 {
		fmt.Fprintln(t.out, "\nLeft to make check:")
	}
	for _, pkg := range slices.Sorted(maps.Keys(t.left)) {
		tests := t.left[pkg]
		if len(tests) > 8 {
			tests = []string{fmt.Sprintf("%d tests", len(tests))}
		}
		fmt.Fprintf(t.out, "    %s: %s\n", pkg, strings.Join(tests, ", "))
	}
	list(t.out, "SKIPPED, so not tested", t.skipped, t.skips)
	list(t.out, "FAILED", len(t.failures), t.failures)
	if err != nil && t.failed == 0 {
		fmt.Fprintf(t.out, "\ngo test: %v\n", err)
		t.failed++
	}
	if t.passed+t.failed == 0 {
		fmt.Fprint(t.out, "\nno test ran\n")
	}
	fmt.Fprintf(t.out, "\n%d passed, %d failed, %d skipped\n", t.passed, t.failed, t.skipped)
	return t.failed == 0 && t.passed > 0
}

func list(out io.Writer, title string, count int, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(out, "\n!!! %s: %d\n", title, count)
	for _, line := range lines {
		fmt.Fprintln(out, "!!!   "+line)
	}
}

// reason is what a skipped test said, on one line.
func reason(text string) string {
	var said []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			said = append(said, line)
		}
	}
	if len(said) == 0 {
		return ""
	}
	return ": " + strings.Join(said, " ")
}

// indent sets a test's own output off, without the runner's progress lines.
func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "=== ") {
			continue
		}
		b.WriteString("    " + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}
