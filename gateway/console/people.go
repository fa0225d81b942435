package console

// peoplePages are those of people, groups and roles.
func peoplePages() map[string]func(*page) error {
	return map[string]func(*page) error{"GET /people": func(*page) error { return errNoPage }}
}
