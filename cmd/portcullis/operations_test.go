package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/config"
)

// TestPagesNameWhatExists: each metric and variable on a page exists, and the reference has every metric.
func TestPagesNameWhatExists(t *testing.T) {
	var metrics []byte
	sources, err := filepath.Glob("observe/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		metrics = append(metrics, text...)
	}
	variables := map[string]bool{config.EnvPrefix + "PORT": true, config.EnvPrefix + "SERVICE": true} // Kubernetes' own
	for _, cmd := range newRoot().Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { variables[config.EnvName(f.Name)] = true })
	}
	pages, err := filepath.Glob("../../docs/*/*.md")
	if err != nil || len(pages) < 20 {
		t.Fatal(pages, err)
	}
	reference, err := os.ReadFile("../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`"(portcullis_[a-z_]+)"`).FindAllStringSubmatch(string(metrics), -1) {
		if !strings.Contains(string(reference), "`"+name[1]) {
			t.Errorf("the reference does not have the metric %s", name[1])
		}
	}
	for _, page := range slices.Concat(pages, []string{"../../docs/architecture.md", "../../README.md"}, deployed(t)) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`portcullis_[a-z_]+`).FindAllString(string(text), -1) {
			name = regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(name, "")
			if !strings.Contains(string(metrics), `"`+name+`"`) {
				t.Errorf("%s: there is no metric %s", page, name)
			}
		}
		for _, name := range regexp.MustCompile(config.EnvPrefix+`[A-Z_]*[A-Z]`).FindAllString(string(text), -1) {
			if !variables[name] && !strings.HasPrefix(name, config.EnvPrefix+"TEST_") {
				t.Errorf("%s: there is no setting %s", page, name)
			}
		}
	}
}
