package rolecache_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/store/rolecache"
)

// FuzzCacheKey parses the name of a cached value. It guarantees that the name has all parts of the key for any ids, so
// two values never share a name.
func FuzzCacheKey(f *testing.F) {
	f.Add("s", "one", "acct-a-v1", int64(1), "user-b-v1")
	f.Add("p", "", "", int64(0), "")
	f.Add("s", "1:a", "a:1:b", int64(-1), "2:c:3")
	f.Add("s", "g:3:acct:7:4:user", "\x00", int64(1<<62), "é:\xff")
	f.Fuzz(func(t *testing.T, kind, generation, account string, revision int64, id string) {
		if kind != "s" && kind != "p" {
			return
		}
		name := rolecache.KeyName(kind, generation, account, revision, id)
		format, rest, _ := strings.Cut(strings.TrimPrefix(name, "az1:"), ":")
		rest, ok := strings.CutPrefix(rest, kind+":")
		if !ok || "az1:"+format+":"+kind+":"+rest != name {
			t.Fatalf("%q does not say what it is of", name)
		}
		part := func() string {
			length, after, _ := strings.Cut(rest, ":")
			n, err := strconv.Atoi(length)
			if err != nil || n < 0 || n > len(after) {
				t.Fatalf("%q can't be read at %q", name, rest)
			}
			rest = strings.TrimPrefix(after[n:], ":")
			return after[:n]
		}
		if got := part(); got != generation {
			t.Fatalf("%q is of generation %q, not %q", name, got, generation)
		}
		if got := part(); got != account {
			t.Fatalf("%q is of account %q, not %q", name, got, account)
		}
		number, after, _ := strings.Cut(rest, ":")
		if rest = after; number != strconv.FormatInt(revision, 10) {
			t.Fatalf("%q is of revision %q, not %d", name, number, revision)
		}
		if got := part(); got != id || rest != "" {
			t.Fatalf("%q is of %q, not %q", name, got, id)
		}
	})
}
