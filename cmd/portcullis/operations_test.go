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

// TestPagesNameWhatExists: each metric and variable that an operator is told of.
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
	for _, page := range slices.Concat([]string{"OPERATIONS.md", "SEEING.md", "STORE.md", "PROVISIONERS.md", "CHANGES.md", "CONFIGURATION.md", "../../README.md"}, deployed(t)) {
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
