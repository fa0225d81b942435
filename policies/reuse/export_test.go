package reuse

// InputPaths are the parts of the input that a key knows.
func InputPaths() map[string]bool {
	out := map[string]bool{}
	for _, p := range inputPaths() {
		out[p.path] = true
	}
	return out
}
