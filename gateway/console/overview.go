package console

import "net/http"

// overviewPages are those of the overview.
func overviewPages() map[string]func(*page) error {
	return map[string]func(*page) error{"GET /{$}": overview}
}

func overview(p *page) error { return p.show(http.StatusOK, "overview", "Overview", "/", nil) }
