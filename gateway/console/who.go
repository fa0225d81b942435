package console

// whoPages are those of the searches.
func whoPages() map[string]func(*page) error {
	return map[string]func(*page) error{"GET /who": func(*page) error { return errNoPage }}
}
