package docs_test

import (
	"regexp"
	"strings"
)

// changing is what is another on each machine and at each change of the shipped tree.
var changing = regexp.MustCompile(`\b[0-9a-f]{12}\b|\d+(\.\d+)?(ms|s|µs)\b|"time":"[^"]*"|"duration_ms":\d+|\d+ questions|questions: \d+|PASS: \d{2,}/\d{2,}|` +
	`(access|reasons|gain) \(\d+\)|\d+ files|routes: \d+|tests: \d+|lists \d+ actions`)

// shows says whether an output has all lines of the page, in their order, and no others but where the page leaves some out.
// Blank lines don't count.
func shows(out string, page []string) bool {
	lines, skips := written(strings.Split(out, "\n")), false
	for _, want := range written(page) {
		if want == "…" {
			skips = true
			continue
		}
		for skips && len(lines) > 0 && lines[0] != want {
			lines = lines[1:]
		}
		if len(lines) == 0 || lines[0] != want {
			return false
		}
		lines, skips = lines[1:], false
	}
	return skips || len(lines) == 0
}

// written are the lines in which something stands, without what is another each time.
func written(lines []string) (out []string) {
	for _, line := range lines {
		if line = strings.TrimRight(line, " "); line != "" {
			out = append(out, changing.ReplaceAllString(line, "~"))
		}
	}
	return out
}
