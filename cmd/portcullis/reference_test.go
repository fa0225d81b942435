package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
)

// pages are those with parts made from the flags.
var pages = []string{"../../docs/reference/configuration.md", "../../docs/reference/commands.md", "../../docs/integrate/mcp-credentials.md"}

// madePart is a part of a page that is made: `<!-- flags: title -->`, the list, `<!-- end -->`.
var madePart = regexp.MustCompile(`(?s)<!-- flags: ([^>]+) -->\n.*?<!-- end -->`)

// TestReferenceHasEveryFlag: lists of the reference are made from the flags. `make reference` writes them.
func TestReferenceHasEveryFlag(t *testing.T) {
	lists := flagLists()
	for _, name := range pages {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		page := madePart.ReplaceAllStringFunc(string(raw), func(part string) string {
			title := madePart.FindStringSubmatch(part)[1]
			list, ok := lists[title]
			if !ok {
				t.Errorf("there are no flags of %q, or the pages have them twice", title)
			}
			delete(lists, title)
			return "<!-- flags: " + title + " -->\n" + list + "<!-- end -->"
		})
		if page == string(raw) {
			continue
		}
		if os.Getenv("PORTCULLIS_TEST_WRITE") == "" {
			t.Errorf("%s and the flags differ; run `make reference`", name)
			continue
		}
		if err := os.WriteFile(name, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for title := range lists {
		t.Errorf("no page has a place for the flags of %q: <!-- flags: %s --> and <!-- end -->", title, title)
	}
}

// flagLists returns a list for each concern of serve, and for each other command.
func flagLists() map[string]string {
	lists, settings := map[string]string{}, map[string]string{}
	for _, concern := range new(config.Config).Concerns() {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.SortFlags = false
		concern.AddFlags(flags)
		var list strings.Builder
		flags.VisitAll(func(f *pflag.Flag) {
			settings[f.Name] = f.Value.Type() + f.Usage
			list.WriteString(flagItem(f, "`"+config.EnvName(f.Name)+"`"))
		})
		lists[concern.Title] = list.String()
	}
	for _, cmd := range newRoot().Commands() {
		if cmd.Name() != "serve" {
			lists["portcullis "+cmd.Name()] = commandList(cmd, settings)
		}
	}
	return lists
}

// commandList returns what each of the commands does, and the flags that they have beside the settings of serve.
func commandList(cmd *cobra.Command, settings map[string]string) string {
	commands := cmd.Commands()
	if len(commands) == 0 || cmd.LocalFlags().HasAvailableFlags() {
		commands = append([]*cobra.Command{cmd}, commands...)
	}
	var list, flags strings.Builder
	var items []string // without the commands that take them
	takenBy := map[string][]string{}
	for _, c := range commands {
		list.WriteString(wrapped("- `" + strings.TrimSuffix(c.UseLine(), " [flags]") + "`: " + c.Short))
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if item := flagItem(f, "%s"); f.Name != "help" && settings[f.Name] != f.Value.Type()+f.Usage {
				if takenBy[item] == nil {
					items = append(items, item)
				}
				takenBy[item] = append(takenBy[item], "`"+c.Name()+"`")
			}
		})
	}
	for _, item := range items {
		caller := ""
		if len(takenBy[item]) < len(commands) {
			caller = strings.Join(takenBy[item], ", ")
		}
		flags.WriteString(wrapped(strings.Replace(strings.Join(strings.Fields(item), " "), " (%s)", strings.TrimSuffix(" ("+caller+")", " ()"), 1)))
	}
	return list.String() + strings.TrimSuffix("\n"+flags.String(), "\n\n")
}

// flagItem returns the item of a flag: its name with what it takes, a note in brackets, its default and its meaning.
func flagItem(f *pflag.Flag, note string) string {
	takes, usage := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if takes != "" && takes != "string" {
		name += " " + strings.Replace(takes, "int", "number", 1)
	}
	given := ""
	if value := strings.Trim(f.DefValue, "[]"); value != "" && value != "false" {
		given = ", default `" + value + "`"
	}
	return wrapped("- `" + name + "` (" + note + ")" + given + ": " + strings.NewReplacer("|", `\|`, "<", `\<`).Replace(usage))
}

// wrapped returns the text of an item in lines of at most 120 characters. It does not break within code.
func wrapped(text string) string {
	const width = 120
	const space = "\x00"
	text = regexp.MustCompile("`[^`]*`").ReplaceAllStringFunc(text, func(code string) string { return strings.ReplaceAll(code, " ", space) })
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case len([]rune(line))+1+len([]rune(word)) > width:
			lines, line = append(lines, line), "  "+word
		default:
			line += " " + word
		}
	}
	return strings.ReplaceAll(strings.Join(slices.Concat(lines, []string{line}), "\n"), space, " ") + "\n"
}
