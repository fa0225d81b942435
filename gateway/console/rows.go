package console

import (
	"bytes"
	"encoding/json"
	"sync"
)

// maxRendered limits the answers whose rows are kept. Pages with the same filters get the same answer each second.
const maxRendered = 16

// rendered caches the rows of the API's answers to following pages, by the answers' bytes. It knows nothing of rights: a
// page looks up what the API has just returned to it.
type rendered struct {
	mu      sync.Mutex
	answers map[string]newRows
}

// newRows are the rows of an answer.
type newRows struct {
	html  []byte
	after string
	// leftOut is true if the answer leaves out decisions.
	leftOut bool
}

// rows returns the rows of an answer.
func (r *rendered) rows(answer json.RawMessage, t *templates) (newRows, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rows, ok := r.answers[string(answer)]; ok {
		return rows, nil
	}
	var page decisionPage
	if err := parse(answer, &page); err != nil {
		return newRows{}, err
	}
	var out bytes.Buffer
	if err := t.pages["decisions"].ExecuteTemplate(&out, "rows", page.Decisions); err != nil {
		return newRows{}, err
	}
	if len(r.answers) == 0 || len(r.answers) >= maxRendered {
		r.answers = map[string]newRows{}
	}
	rows := newRows{out.Bytes(), page.After, page.LeftOut}
	r.answers[string(answer)] = rows
	return rows, nil
}
