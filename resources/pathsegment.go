package resources

import "strings"

// maxPathSegment bounds ValidPathSegment, in bytes: the names of MCP tools have at most as many.
const maxPathSegment = 128

// PathSegmentRule describes what ValidPathSegment accepts.
const PathSegmentRule = "must be 1 to 128 characters of [A-Za-z0-9._~!$&'()*+,:=@-], and not ., .., accounts or projects in any letters"

// ValidPathSegment says whether a name can be a segment of a path of authorization.check as it is, behind the place. It is
// equal to what gateway/route accepts there of a name without escapes.
func ValidPathSegment(name string) bool {
	return len(name) <= maxPathSegment && plainSegment(name) && !strings.EqualFold(name, "accounts") && !strings.EqualFold(name, "projects")
}

// plainSegment says whether a segment of a path needs no escape and is not a dot segment.
func plainSegment(s string) bool {
	for i := range len(s) {
		if !plainByte(s[i]) {
			return false
		}
	}
	return s != "" && s != "." && s != ".."
}

// plainByte says whether a byte stands for itself in a segment of a path.
func plainByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("._~!$&'()*+,:=@-", c) >= 0
}

// IsDotSegment says whether some server may read a decoded segment of a path as . or ..: some servers trim it first.
func IsDotSegment(decoded string) bool {
	bare := strings.Join(strings.Fields(decoded), "")
	return bare == "." || bare == ".."
}
