package overlay_test

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies/overlay"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestATreeThatNoStoreKeepsIsRefused guarantees that a gateway can keep each merged tree for the guards of its next start.
// Data may be large if it compresses well.
func TestATreeThatNoStoreKeepsIsRefused(t *testing.T) {
	raw := make([]byte, 6<<20)
	must.Get(rand.Read(raw))(t)
	random := base64.StdEncoding.EncodeToString(raw)
	newBase := read(t, base(t))
	for name, c := range map[string]struct{ text, want string }{
		"large, and compresses": {strings.Repeat("own data ", 3<<20), ""},
		"kept":                  {random, ""},
		"too large":             {random + random[1:], "policy.json: with its base the overlay takes 16 MiB compressed, and at most 11 can be kept"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree, err := overlay.Merge(newBase, read(t, over("own_list/data.json", `{"text": "`+c.text+`"}`)))
			if c.want != "" {
				if err == nil || !strings.HasPrefix(err.Error(), c.want) {
					t.Errorf("%v, want %s", err, c.want)
				}
				return
			}
			must.Do(t, err)
			packed := must.Get(overlay.Pack(tree))(t)
			if kept := must.Get(overlay.Unpack(packed))(t); kept.Revision != tree.Revision {
				t.Errorf("%s is kept as %s", tree.Revision, kept.Revision)
			}
		})
	}
}
