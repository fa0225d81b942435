package main

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
)

// TestConfigurationPageHasEveryFlag: the tables of CONFIGURATION.md are made from the flags.
// `make configuration` writes them.
func TestConfigurationPageHasEveryFlag(t *testing.T) {
	const name = "CONFIGURATION.md"
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	tables := flagTables()
	page := regexp.MustCompile(`(?s)<!-- flags: ([^>]+) -->\n.*?<!-- end -->`).ReplaceAllStringFunc(string(raw), func(part string) string {
		title := strings.TrimSuffix(strings.TrimPrefix(strings.SplitN(part, "\n", 2)[0], "<!-- flags: "), " -->")
		table, known := tables[title]
		if !known {
			t.Errorf("there are no flags of %q, or the page has them twice", title)
		}
		delete(tables, title)
		return "<!-- flags: " + title + " -->\n" + table + "<!-- end -->"
	})
	for title := range tables {
		t.Errorf("%s has no place for the flags of %q: <!-- flags: %s --> and <!-- end -->", name, title, title)
	}
	if page == string(raw) {
		return
	}
	if os.Getenv("PORTCULLIS_TEST_WRITE") == "" {
		t.Fatalf("%s and the flags differ; run `make configuration`", name)
	}
	if err := os.WriteFile(name, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
}

// flagTables returns a table for each concern of serve, and for the flags that each other
// command has beside them.
func flagTables() map[string]string {
	tables, seen := map[string]string{}, map[string]bool{"help": true}
	for _, concern := range new(config.Config).Concerns() {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		concern.AddFlags(flags)
		tables[concern.Title] = flagTable(flags, seen)
	}
	for _, cmd := range newRoot().Commands() {
		if table := flagTable(cmd.Flags(), maps.Clone(seen)); table != "" {
			tables["portcullis "+cmd.Name()] = table
		}
	}
	return tables
}

// flagTable returns a row for each flag that was not seen before, "" for none.
func flagTable(flags *pflag.FlagSet, seen map[string]bool) string {
	var rows strings.Builder
	flags.SortFlags = false
	flags.VisitAll(func(f *pflag.Flag) {
		if seen[f.Name] {
			return
		}
		seen[f.Name] = true
		takes, usage := pflag.UnquoteUsage(f)
		switch takes {
		case "":
			takes = "`true` or `false`"
		case "int":
			takes = "number"
		}
		value := strings.Trim(f.DefValue, "[]")
		if value != "" {
			value = "`" + value + "`"
		}
		fmt.Fprintf(&rows, "| `--%s` | `%s` | %s | %s | %s |\n", f.Name, config.EnvName(f.Name), value, takes, strings.NewReplacer("|", `\|`, "<", `\<`).Replace(usage))
	})
	if rows.Len() == 0 {
		return ""
	}
	return "| flag | variable | default | takes | meaning |\n|---|---|---|---|---|\n" + rows.String()
}
