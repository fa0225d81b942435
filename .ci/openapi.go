// Openapi prints the OpenAPI document, for the linter.
package main

import (
	"fmt"
	"os"

	"github.com/portcullis-authz/portcullis/resources/apidoc"
)

func main() {
	text, err := apidoc.Document()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if _, err := os.Stdout.Write(text); err != nil {
		os.Exit(1)
	}
}
