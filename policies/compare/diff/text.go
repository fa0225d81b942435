package diff

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/portcullis-authz/portcullis/policies/compare"
)

// shown is how many rows of a list are written out for people; JSON has all of them.
const shown = 20

// Text returns the report for a terminal.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "policy %s -> %s: %d questions compared\n", r.Old, r.New, r.Questions)
	b.WriteString(r.peopleLine())
	for _, of := range r.sections() {
		if of.size == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s (%d)\n", of.title, of.size)
		for _, line := range of.lines {
			fmt.Fprintf(&b, "  %s\n", printable(line))
		}
		if left := of.size - len(of.lines); left > 0 {
			fmt.Fprintf(&b, "  … and %d more; --json has all\n", left)
		}
	}
	if !r.Differs() {
		b.WriteString("no difference\n")
	}
	return b.String()
}

// Markdown returns the report for a comment on a pull request.
func (r *Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Policy `%s` → `%s`\n\n", r.Old, r.New)
	if !r.Differs() {
		b.WriteString("No difference.\n")
	}
	if line := r.peopleLine(); line != "" {
		b.WriteString(line + "\n")
	}
	for _, of := range r.sections() {
		if of.size == 0 {
			continue
		}
		fmt.Fprintf(&b, "<details><summary>%s: %d</summary>\n\n", of.title, of.size)
		for _, line := range of.lines {
			fmt.Fprintf(&b, "- %s\n", escape(printable(line)))
		}
		if left := of.size - len(of.lines); left > 0 {
			fmt.Fprintf(&b, "- … and %d more\n", left)
		}
		b.WriteString("\n</details>\n\n")
	}
	return b.String()
}

// printable keeps what a tree says on one line, and from steering a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}

// escape keeps what a tree says from being markup.
func escape(s string) string {
	return strings.NewReplacer(
		`\`, `\\`, "&", "&amp;", "<", "&lt;", ">", "&gt;", "`", "'", "*", `\*`, "_", `\_`, "~", `\~`, "[", `\[`, "|", `\|`, "@", "@\u200b",
	).Replace(s)
}

// section is one list of the report.
type section struct {
	title string
	size  int
	lines []string
}

func (r *Report) sections() []section {
	routes := section{title: "Routes, where no rule reads it", size: len(r.Routes)}
	for _, f := range r.Routes[:min(shown, len(r.Routes))] {
		routes.lines = append(routes.lines, fmt.Sprintf("%s: %s %q -> %q", f.Route, f.Field, f.Old, f.New))
	}
	gaps := section{title: "Not exhaustive", size: len(r.NotExhaustive)}
	for _, g := range r.NotExhaustive[:min(shown, len(r.NotExhaustive))] {
		gaps.lines = append(gaps.lines, fmt.Sprintf("%s reads %s: %s", g.At, g.Reads, g.LeftOut))
	}
	return append(r.peopleSections(), rows("New access", r.NewAccess), rows("Lost access", r.LostAccess), rows("Other reasons", r.Reasons), routes,
		rows("Unreachable: no caller can bring it about", r.Unreachable), gaps)
}

func rows(title string, of []compare.Row) section {
	out := section{title: title, size: len(of)}
	for _, row := range of[:min(shown, len(of))] {
		out.lines = append(out.lines, line(row))
	}
	return out
}

// line returns a row in words.
func line(row compare.Row) string {
	parts := []string{row.Entry}
	if row.Route != "" {
		parts = append(parts, row.Route)
	}
	if row.Action != "" {
		parts = append(parts, row.Action)
	}
	parts = append(parts, "by "+row.Caller)
	if row.Credential != "none" {
		parts = append(parts, "with a "+row.Credential)
	}
	if row.Role != "" {
		parts = append(parts, "holding "+row.Role, "at "+row.Place)
	}
	var states []string
	for _, name := range slices.Sorted(maps.Keys(row.States)) {
		states = append(states, name+"="+strings.Join(row.States[name], "|"))
	}
	return fmt.Sprintf("%s [%s]: %s -> %s", strings.Join(parts, ", "), strings.Join(states, " "), said(row.Old), said(row.New))
}

func said(a compare.Answer) string {
	if a.Allow {
		return fmt.Sprintf("allowed (%s)", a.Reason)
	}
	return fmt.Sprintf("denied (%s)", a.Reason)
}
