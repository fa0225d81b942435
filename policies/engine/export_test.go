package engine

// Memoised says whether an entry point's verdicts are reused.
func (s *Set) Memoised(entry string) bool { return s.queries["data.authz."+entry].key != nil }

// InputPaths are the parts of the input that the key knows.
func InputPaths() map[string]bool {
	out := map[string]bool{}
	for _, p := range inputPaths() {
		out[p.path] = true
	}
	return out
}
