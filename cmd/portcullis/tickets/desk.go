package tickets

import (
	"fmt"
	"strings"
	"sync"
)

type searchInput struct {
	Text string `json:"text,omitempty" jsonschema:"a part of the ticket's title"`
	Open bool   `json:"open,omitempty" jsonschema:"true lists open tickets only"`
}

type closeInput struct {
	Number  int    `json:"number" jsonschema:"the ticket's number"`
	Comment string `json:"comment,omitempty" jsonschema:"a comment for the ticket's author"`
}

// ticket is one of the desk's.
type ticket struct {
	title string
	// closed has the closing user and the comment. It is "" for an open ticket.
	closed string
}

// desk holds the tickets; the number of one is its index + 1. It is safe for concurrent use.
type desk struct {
	mu      sync.Mutex
	tickets []ticket
}

func newDesk() *desk {
	return &desk{tickets: []ticket{
		{title: "The printer on floor 2 prints blank pages"},
		{title: "Password reset mail does not arrive"},
		{title: "A new laptop for Carol", closed: "by user-alice-v1: it is on her table"},
	}}
}

// search returns a line for each fitting ticket.
func (d *desk) search(wanted searchInput) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var lines []string
	for i, t := range d.tickets {
		if wanted.Open && t.closed != "" || !strings.Contains(strings.ToLower(t.title), strings.ToLower(wanted.Text)) {
			continue
		}
		state := "open"
		if t.closed != "" {
			state = "closed " + t.closed
		}
		lines = append(lines, fmt.Sprintf("%d %s (%s)", i+1, t.title, state))
	}
	if len(lines) == 0 {
		return "no ticket fits"
	}
	return strings.Join(lines, "\n")
}

// close closes an open ticket for a caller.
func (d *desk) close(wanted closeInput, caller string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if wanted.Number < 1 || wanted.Number > len(d.tickets) {
		return "", fmt.Errorf("number must be a ticket's, 1 to %d, not %d", len(d.tickets), wanted.Number)
	}
	t := &d.tickets[wanted.Number-1]
	if t.closed != "" {
		return "", fmt.Errorf("ticket %d is closed already", wanted.Number)
	}
	t.closed = "by " + caller
	if wanted.Comment != "" {
		t.closed += ": " + wanted.Comment
	}
	return fmt.Sprintf("ticket %d is closed %s", wanted.Number, t.closed), nil
}
