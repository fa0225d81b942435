package console

// decisionsPages are those of the decision log.
func decisionsPages() map[string]func(*page) error {
	return map[string]func(*page) error{"GET /decisions": func(*page) error { return errNoPage }}
}
