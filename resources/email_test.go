package resources_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
)

// TestAddressesOfTwoReadingsAreRefused guarantees it for addresses that some mail software reads as others. Similar
// plain addresses are accepted.
func TestAddressesOfTwoReadingsAreRefused(t *testing.T) {
	for _, s := range []string{
		"=?utf-8?q?ada?=@b.example", "x=?utf-8?b?YWRh?=@b.example", "ada%other.example@b.example", "other.example!ada@b.example", `"ada"@b.example`, "ada(x)@b.example",
	} {
		if resources.ValidEmail(s) {
			t.Errorf("%s is accepted", s)
		}
	}
	for _, s := range []string{"bounce+ada=c.example@b.example", "a?b=c@b.example", "o'hara_1{x}#$&*/^`|~-@b.example"} {
		if !resources.ValidEmail(s) {
			t.Errorf("%s is refused", s)
		}
	}
}
