package resources

import (
	"errors"
	"strconv"
	"strings"
)

var errURITemplate = errors.New("must be a URI in which a segment can be {name} and the last one {name+}, as in repo://{owner}/{path+}: " +
	"a scheme in small letters, no empty segment, no escape, no ? and no #")

// CheckTemplate returns what is wrong with the template of the row. A parameter is a whole segment behind the scheme.
func (r MCPResource) CheckTemplate() error {
	_, segments, ok := cutURI(r.URI)
	for i, segment := range segments {
		switch segmentKind(segment) {
		case 0:
			ok = ok && plainSegment(segment)
		case 1:
			ok = ok && isParameter(segment, "}")
		default:
			ok = ok && isParameter(segment, "+}") && i == len(segments)-1
		}
	}
	if !ok {
		return errURITemplate
	}
	return nil
}

// Overlap says whether some URI fits both rows, and which one gets it. Templates are read from the left: where they first
// differ, a literal is before {name}, and {name} before {name+}. better says that the other row gets it. equal says that the
// templates differ only in the names of parameters.
func (r MCPResource) Overlap(other MCPResource) (meets, better, equal bool) {
	start, segments, _ := cutURI(r.URI)
	otherStart, otherSegments, _ := cutURI(other.URI)
	if start != otherStart {
		return false, false, false
	}
	meets, decided, better := overlap(segments, otherSegments)
	return meets, better, meets && !decided
}

// Resource returns the row of a URI, the best of those that it fits (MCPResource.Overlap); nil if it fits none. No row takes
// a URI with an empty or a dot segment, or with an escape that somebody undoes.
func (s *MCPServer) Resource(uri string) *MCPResource {
	var best *MCPResource
	for i := range s.Resources {
		row := &s.Resources[i]
		if !row.fits(uri) {
			continue
		}
		if best != nil {
			if _, better, _ := best.Overlap(*row); !better {
				continue
			}
		}
		best = row
	}
	return best
}

// fits says whether a URI fits the template.
func (r *MCPResource) fits(uri string) bool {
	start, pattern, _ := cutURI(r.URI)
	uriStart, segments, ok := cutURI(uri)
	if !ok || start != uriStart || len(segments) < len(pattern) {
		return false
	}
	for i, segment := range segments {
		last := min(i, len(pattern)-1)
		kind := segmentKind(pattern[last])
		if !readAlike(segment) || i > last && kind != 2 || kind == 0 && segment != pattern[last] {
			return false
		}
	}
	return true
}

// cutURI returns what stands before the first segment of a URI, such as file:///, and the segments. It reports false for a
// scheme that is missing or not in small letters.
func cutURI(uri string) (start string, segments []string, ok bool) {
	scheme, rest, ok := strings.Cut(uri, ":")
	for i := range len(scheme) {
		c := scheme[i]
		ok = ok && ('a' <= c && c <= 'z' || i > 0 && ('0' <= c && c <= '9' || strings.IndexByte("+.-", c) >= 0))
	}
	for range len("///") {
		rest = strings.TrimPrefix(rest, "/")
	}
	return uri[:len(uri)-len(rest)], strings.Split(rest, "/"), ok && scheme != ""
}

// isParameter says whether a segment of a template is { and a name with that end.
func isParameter(segment, end string) bool {
	name, closed := strings.CutSuffix(segment, end)
	name, opened := strings.CutPrefix(name, "{")
	for i := range len(name) {
		c := name[i] | 0x20 // a letter in lower case
		opened = opened && ('a' <= c && c <= 'z' || name[i] == '_' || i > 0 && '0' <= name[i] && name[i] <= '9')
	}
	return closed && opened && name != ""
}

// readAlike says whether every server reads a segment of a URI as it stands: each of its escapes is needed, and of no syntax.
func readAlike(segment string) bool {
	var plain, decoded strings.Builder
	for rest, escaped := segment, true; escaped; {
		var before string
		before, rest, escaped = strings.Cut(rest, "%")
		plain.WriteString(before)
		decoded.WriteString(before)
		if !escaped {
			break
		}
		c, err := strconv.ParseUint(rest[:min(2, len(rest))], 16, 8)
		if err != nil || len(rest) < 2 || c < 0x80 && !strings.ContainsRune(" \"#<>?[]^`{|}", rune(c)) {
			return false
		}
		if c != ' ' { // some servers trim a segment first
			plain.WriteByte('a')
		}
		decoded.WriteByte(byte(c))
		rest = rest[2:]
	}
	return plainSegment(plain.String()) && !IsDotSegment(decoded.String())
}
