package route_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/gateway/route"
)

// refusedPaths are forms that two servers read differently, by what is said of them.
var refusedPaths = map[string][]string{
	"is empty":                    {""},
	"longer than 2048":            {strings.Repeat("a", 2049), strings.Repeat("a/", 1025)},
	"a . or .. segment":           {".", "..", "../a", "a/..", "a/../b", "./a", "a/.", "a/./b", "%20..", "..%20", "a/%20.%20/b", "a/..%C2%A0/b", "%E3%80%80./a"},
	"an encoded .":                {"%2e", "%2E", "%2e%2e", "%2E%2e/a", ".%2e", "%2E./a", "a/%2e%2E/b", "a%2eb"},
	"an empty segment":            {"/", "//", "/a", "//a", "a//b", "a///b", "a//"},
	"ends with a /":               {"a/", "a/b/", "/"},
	"holds a \\":                  {`\`, `a\b`, `..\a`, `\\host\share`},
	"an encoded \\":               {"%5c", "%5C", "..%5ca", "a%5C..%5Cb"},
	"holds a ;":                   {";", "a;b=c", "..;/a", "a/;x/b", ";/a"},
	"an encoded ;":                {"%3b", "%3B", "..%3B/a"},
	"an encoded /":                {"%2f", "%2F", "a%2fb", "..%2Fa", "a%2F%2fb"},
	"an encoded %":                {"%25", "%252e%252e", "%252F", "%2525", "a%255c"},
	"an encoded NUL":              {"%00", "a%00.json", "a/%00"},
	"a control character":         {"\x00", "a\x01", "a\tb", "a\nb", "a\rb", "\x1f", "\x7f", "%01", "%0a", "%0D", "%09", "%1f", "%1F", "%7f", "%7F", "%C2%80", "%c2%9f", "%C2%85"},
	"a query is not part":         {"?", "a?", "a?b=c", "?/../a"},
	"holds a #":                   {"#", "a#", "a#b", "#/../a"},
	"an encoded letter":           {"%61", "%41", "%7a", "%7A", "%5a", "%30", "%39", "%2d", "%2D", "%5f", "%5F", "%7e", "%7E", "%61ccounts/x", "acc%6funts/x"},
	"valid UTF-8":                 {"%C0%AE", "%c0%af", "%C1%9C", "%E0%80%AE", "%e0%80%af", "%F0%80%80%AE", "%FF", "%80", "%ED%A0%80", "%F4%90%80%80", "%C3", "a%C3/b"},
	"two hexadecimal digits":      {"%", "a%", "%2", "%zz", "%2g", "%g2", "%%", "%u002e", "%U002E", "%2/e", "%-1", "%+2"},
	"must be percent-encoded":     {" ", "a b", "\u00e9", "a\xff", "<", ">", `"`, "^", "`", "{", "|", "}", "[", "]", "a[0]"},
	"some servers read as a dot,": {"%E2%80%A4", "%e2%80%a5", "%E2%80%A6", "%EF%BC%8E%EF%BC%8E", "%EF%BC%8F", "%ef%bc%bc", "%EF%B9%92", "%EF%B9%A8", "%EF%BC%85", "%EF%B9%AA", "%EF%BC%9B", "%EF%B9%94", "%CD%BE", "%EF%B8%B0", "%EF%B8%99", "%EF%B8%94", "%E2%84%80", "%E2%84%85", "%E2%92%88", "%E2%92%9B", "%F0%9F%84%80", "%E2%81%84", "%E2%88%95", "%E2%88%96"},
}

// acceptedPaths must come through as they are.
var acceptedPaths = []string{
	"a", "projects/proj-a-v1/instances", "accounts/acct-a-v1/projects/proj-a-v1/instances/i-1", "api/v1/accounts/acct-a-v1",
	"a%20b", "a/%20b/c%20", "caf%C3%A9", "caf%c3%a9", "%E6%97%A5%E6%9C%AC", "%F0%9F%99%82", "%C2%A0",
	"a!b$c&d'e(f)g*h+i,j=k", "a:b", "user@host", "mailto:a@b", ":", "@", "=", "~", "-", "_", "...", ".a", "a.", "..a", "a..", ".well-known/x", "a.b.c",
	"%21%24%26%27%28%29%2A%2B%2C%3D%3a%40", "%3F", "%23", "%5B0%5D", "%22", strings.Repeat("a", 2048), strings.Repeat("a/", 1023) + "ab",
}

// TestPathsReadInTwoWaysAreRefused holds each class of ABUSE, in every case of hex.
func TestPathsReadInTwoWaysAreRefused(t *testing.T) {
	for want, paths := range refusedPaths {
		for _, path := range paths {
			t.Run(fmt.Sprintf("%.40q %s", path, want), func(t *testing.T) {
				got := route.PathProblems(path)
				if !slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, want) }) {
					t.Errorf("problems %q, want one with %q", got, want)
				}
			})
		}
	}
}

func TestOrdinaryPathsAreTaken(t *testing.T) {
	for _, path := range acceptedPaths {
		if got := route.PathProblems(path); len(got) > 0 {
			t.Errorf("%q is refused: %q", path, got)
		}
	}
}

// TestEveryEscapeOfAByte says for each of the 256 bytes whether it may be escaped, in
// four spellings of the escape.
func TestEveryEscapeOfAByte(t *testing.T) {
	mayBe := func(c byte) bool { return strings.IndexByte(" !\"#$&'()*+,:<=>?@[]^`{|}", c) >= 0 }
	for i := range 256 {
		c := byte(i)
		hex := fmt.Sprintf("%02x", c)
		upper := strings.ToUpper(hex)
		for _, spelling := range []string{hex, upper, hex[:1] + upper[1:], upper[:1] + hex[1:]} {
			taken := len(route.PathProblems("a%"+spelling+"b")) == 0
			if taken != mayBe(c) {
				t.Errorf("%%%s: taken %v, want %v", spelling, taken, mayBe(c))
			}
		}
	}
}

// TestAllProblemsOfAPathAreToldAtOnce, each once.
func TestAllProblemsOfAPathAreToldAtOnce(t *testing.T) {
	got := route.PathProblems(`//%2F%2f/%5c\;%3b/../%2e/%00%01%zz#?%61%25%FF %EF%BC%8F/`)
	for want := range refusedPaths {
		if want == "is empty" || want == "longer than 2048" {
			continue
		}
		n := 0
		for _, p := range got {
			if strings.Contains(p, want) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%q is told %d times in %q", want, n, got)
		}
	}
}
