// Sbom writes the bill of materials of a Go program as CycloneDX 1.5: go run .ci/sbom.go VERSION PROGRAM
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
)

type component struct {
	Ref     string `json:"bom-ref"`
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
}

type bill struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "sbom: needs a version and a program")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// write reads the modules from the program itself, so that the bill has what was linked and nothing else.
func write(version, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	out := bill{Format: "CycloneDX", SpecVersion: "1.5", Version: 1, Metadata: metadata{of("application", info.Main.Path, version)}}
	out.Components = append(out.Components, of("library", "std", info.GoVersion))
	for _, m := range info.Deps {
		out.Components = append(out.Components, of("library", used(m).Path, used(m).Version))
	}
	to := json.NewEncoder(os.Stdout)
	to.SetIndent("", "  ")
	return to.Encode(out)
}

// used returns the module that took another one's place.
func used(m *debug.Module) *debug.Module {
	if m.Replace != nil {
		return m.Replace
	}
	return m
}

func of(kind, path, version string) component {
	purl := "pkg:golang/" + path + "@" + version
	return component{Ref: purl, Type: kind, Name: path, Version: version, PURL: purl}
}
