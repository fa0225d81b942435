package limits_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/limits"
	"github.com/portcullis-authz/portcullis/policies/policytest"
)

// TestReferenceHasTheBounds guarantees that the documentation lists the forbidden built-ins and the bounds of rules.
func TestReferenceHasTheBounds(t *testing.T) {
	var names, bounds []string
	for name := range limits.Refused() {
		if family, _, _ := strings.Cut(name, "."); family == "graphql" || family == "yaml" {
			name = family + ".*"
		}
		names = append(names, "`"+name+"`")
	}
	slices.Sort(names)
	for _, bound := range limits.WrittenBounds() {
		bounds = append(bounds, thousands(bound.Most)+" "+bound.What)
	}
	policytest.MadePart(t, "built-ins", policytest.Wrapped("No rule may call "+strings.Join(slices.Compact(names), ", ")+"; the refusal says why. A test may call `json.match_schema`."))
	policytest.MadePart(t, "bounds", policytest.Wrapped("There may be at most "+strings.Join(bounds, "; ")+"."))
}

// thousands returns a number with a comma before each three digits.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return thousands(n/1000) + fmt.Sprintf(",%03d", n%1000)
}
