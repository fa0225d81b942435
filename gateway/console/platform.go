package console

// platformPages are those of projects, security groups and clusters.
func platformPages() map[string]func(*page) error {
	return map[string]func(*page) error{"GET /platform": func(*page) error { return errNoPage }}
}
