package resources

import "strings"

// Overlap says whether some call fits both rows, and whether the other one is the better fit for it: by literal segments
// before parameters, then by the method, then by the host. Rows for different messages of MCP have no call in common.
func (r *Route) Overlap(other *Route) (meets, better bool) {
	wild := func(a, b, every string) bool { return a == b || a == every || b == every }
	if !wild(r.Method, other.Method, AnyMethod) || !wild(strings.ToLower(r.Host), strings.ToLower(other.Host), "") {
		return false, false
	}
	if r.MCP != other.MCP && r.MCP.Named() && other.MCP.Named() {
		return false, false
	}
	meets, decided, better := overlap(strings.Split(r.Path, "/"), strings.Split(other.Path, "/"))
	if !meets {
		return false, false
	}
	if !decided && r.Method != other.Method {
		decided, better = true, r.Method == AnyMethod
	}
	return true, better || !decided && r.Host == "" && other.Host != ""
}

// overlap says whether something fits both patterns, whether one of them is better then, and whether that is the other one.
// The first segments of different kinds decide.
func overlap(a, b []string) (meets, decided, better bool) {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) {
			return false, false, false
		}
		kind, theirKind := segmentKind(a[i]), segmentKind(b[i])
		if kind == 0 && theirKind == 0 && a[i] != b[i] {
			return false, false, false
		}
		if !decided && kind != theirKind {
			decided, better = true, theirKind < kind
		}
		if kind == 2 || theirKind == 2 {
			break
		}
	}
	return true, decided, better
}

// segmentKind returns 0 for a literal, 1 for a parameter and 2 for the rest of a path, the best first.
func segmentKind(text string) int {
	switch {
	case strings.HasSuffix(text, "+}"):
		return 2
	case strings.HasPrefix(text, "{"):
		return 1
	}
	return 0
}
