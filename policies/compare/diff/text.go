package diff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/portcullis-authz/portcullis/policies/compare"
	"github.com/portcullis-authz/portcullis/resources"
)

// mostLines bounds the lines of all lists of a text together; JSON has every row.
const mostLines = 200

// Text returns the report for a terminal.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "policy %s -> %s: %d questions compared\n", r.Old, r.New, r.Questions)
	b.WriteString(r.peopleLine())
	for _, list := range r.lists() {
		fmt.Fprintf(&b, "\n%s (%d)\n", list.title, list.rows)
		for _, line := range list.lines {
			fmt.Fprintf(&b, "  %s\n", printable(line.text))
		}
		if rest := list.rest(); rest > 0 {
			fmt.Fprintf(&b, "  … and %d more; --json has all\n", rest)
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
	for _, list := range r.lists() {
		fmt.Fprintf(&b, "<details><summary>%s: %d</summary>\n\n", list.title, list.rows)
		for _, line := range list.lines {
			fmt.Fprintf(&b, "- %s\n", escape(printable(line.text)))
		}
		if rest := list.rest(); rest > 0 {
			fmt.Fprintf(&b, "- … and %d more\n", rest)
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

// list is one list of the report.
type list struct {
	title string
	rows  int
	lines []line
}

// line is a line about so many rows.
type line struct {
	text string
	rows int
}

func (l *list) add(text string, rows int) {
	l.lines, l.rows = append(l.lines, line{text, rows}), l.rows+rows
}

// rest counts the rows about which no line is left.
func (l *list) rest() int {
	rest := l.rows
	for _, line := range l.lines {
		rest -= line.rows
	}
	return rest
}

// lists returns the lists that hold something, of mostLines together: what a short one does not need, longer ones get.
func (r *Report) lists() []*list {
	routes, gaps := &list{title: "Routes, where no rule reads it"}, &list{title: "Not exhaustive"}
	for _, f := range r.Routes {
		routes.add(fmt.Sprintf("%s: %s %q -> %q", f.Route, f.Field, f.Old, f.New), 1)
	}
	for _, g := range r.NotExhaustive {
		gaps.add(fmt.Sprintf("%s reads %s: %s", g.At, g.Reads, g.LeftOut), 1)
	}
	all := append(r.peopleLists(), rows("New access", r.NewAccess), rows("Lost access", r.LostAccess), rows("Other reasons", r.Reasons), routes,
		rows("Unreachable: no caller can bring it about", r.Unreachable), gaps)
	all = slices.DeleteFunc(all, func(l *list) bool { return l.rows == 0 })
	lines := mostLines
	for i, l := range slices.SortedFunc(slices.Values(all), func(a, b *list) int { return len(a.lines) - len(b.lines) }) {
		l.lines = l.lines[:min(len(l.lines), lines/(len(all)-i))]
		lines -= len(l.lines)
	}
	return all
}

// group is rows with the same answers about one route and action, to holders of one role.
type group struct {
	*compare.Row
	rows   int
	places []string
	// callers holds the sets of scopes of each kind of caller.
	callers, states map[string][]string
}

// rows returns a list of groups, below the codes of the rules that answer.
func rows(title string, all []compare.Row) *list {
	groups := map[string]*group{}
	for i := range all {
		row := &all[i]
		key := strings.Join([]string{codes(row), row.Entry, row.Route, row.Action, row.Role, said(row.Old), said(row.New)}, "\n")
		if groups[key] == nil {
			groups[key] = &group{Row: row, callers: map[string][]string{}, states: map[string][]string{}}
		}
		groups[key].add(row)
	}
	out, below := &list{title: title}, ""
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		g := groups[key]
		if codes := codes(g.Row); codes != below {
			below = codes
			out.add(codes+":", 0)
		}
		out.add(g.text(), g.rows)
	}
	return out
}

// codes names the rules that answer in both trees, as far as their answers have codes.
func codes(row *compare.Row) string {
	if row.Old.Code == "" && row.New.Code == "" {
		return ""
	}
	return fmt.Sprintf("%s -> %s", cmp.Or(row.Old.Code, "no code"), cmp.Or(row.New.Code, "no code"))
}

// add adds what a row has beside what all have.
func (g *group) add(row *compare.Row) {
	g.rows++
	caller, scopes := kindOfCaller(row)
	g.callers[caller] = join(g.callers[caller], scopes)
	g.places = join(g.places, row.Place)
	for name, values := range row.States {
		g.states[name] = join(g.states[name], values...)
	}
}

// kindOfCaller splits a row's caller into its kind and its scopes.
func kindOfCaller(row *compare.Row) (kind, scopes string) {
	kind = row.Caller
	if rest, ok := strings.CutPrefix(kind, "service"); ok {
		before, id, _ := strings.Cut(rest, "(")
		kind, scopes = strings.TrimSpace("service "+strings.TrimSuffix(id, ")")), strings.TrimSpace(before)
	}
	if row.Credential == resources.CredentialNone {
		return kind, scopes
	}
	credential, keyScopes, _ := strings.Cut(row.Credential, " ")
	return kind + " with a " + credential, cmp.Or(scopes, keyScopes)
}

// mostScopes is the number of sets of scopes that a text lists. It counts more.
const mostScopes = 4

// callersText names the kinds of callers with their sets of scopes.
func (g *group) callersText() string {
	var out []string
	for _, kind := range slices.Sorted(maps.Keys(g.callers)) {
		sets := g.callers[kind]
		switch {
		case len(sets) > mostScopes:
			kind += fmt.Sprintf(" (%d sets of scopes)", len(sets))
		case len(sets) > 1 || sets[0] != "":
			kind += " (" + cmp.Or(sets[0], "no scopes")
			for _, scopes := range sets[1:] {
				kind += ", " + scopes
			}
			kind += ")"
		}
		out = append(out, kind)
	}
	return strings.Join(out, ", ")
}

// join adds values to a sorted set.
func join(set []string, values ...string) []string {
	set = append(set, values...)
	slices.Sort(set)
	return slices.Compact(set)
}

// text returns a group in words.
func (g *group) text() string {
	parts := []string{g.Entry, g.Route, g.Action, "by " + g.callersText()}
	if g.Role != "" {
		parts = append(parts, "holding "+g.Role, "at "+strings.Join(g.places, ", "))
	}
	var states []string
	for _, name := range slices.Sorted(maps.Keys(g.states)) {
		states = append(states, name+"="+strings.Join(g.states[name], "|"))
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return fmt.Sprintf("%s [%s]: %s -> %s", strings.Join(parts, ", "), strings.Join(states, " "), said(g.Old), said(g.New))
}

func said(a compare.Answer) string {
	if a.Allow {
		return fmt.Sprintf("allowed (%s)", a.Reason)
	}
	return fmt.Sprintf("denied (%s)", a.Reason)
}
