package console

// policyPages are those of the policy tree.
func policyPages() map[string]func(*page) error {
	return map[string]func(*page) error{"GET /policy": func(*page) error { return errNoPage }}
}
