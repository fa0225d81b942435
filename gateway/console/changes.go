package console

import (
	"net/http"
	"net/url"
	"time"
)

// changesPages returns the handlers of the change log, by pattern.
func changesPages() map[string]func(*page) error {
	return map[string]func(*page) error{"GET /changes": showChanges, "GET /changes/undo": confirmUndo, "POST /changes/undo": undo}
}

// changesView is the data of the page of changes.
type changesView struct {
	Changes                []change
	Next                   string
	Actor, Subject, Action string
	// Since and Until are days or times in the API's form. Until is the last day.
	Since, Until string
	Problem      *apiError
	// may holds the actions of undo calls that the user may do.
	may map[string]bool
}

// Filtered reports whether a filter hides changes.
func (v changesView) Filtered() bool { return v.Actor+v.Subject+v.Action+v.Since+v.Until != "" }

// Wrong returns the API's problem with a filter, or "".
func (v changesView) Wrong(filter string) string { return v.Problem.Field(filter) }

// UndoLink returns the address of the page that undoes a change. It returns "" if no single call can undo the change, or
// if the user may not make that call.
func (v changesView) UndoLink(c change) string {
	inverse := c.inverse()
	if inverse == nil || !v.may[inverse.Action] {
		return ""
	}
	return "/changes/undo?" + url.Values{"id": {c.ID}}.Encode()
}

// Older returns the address of the next page.
func (v changesView) Older() string {
	return "/changes?" + given("page_token", v.Next, "actor", v.Actor, "subject", v.Subject, "action", v.Action, "since", v.Since, "until", v.Until).Encode()
}

// changePage is a page of the change log.
type changePage struct {
	Changes []change `json:"changes"`
	Next    string   `json:"next_page_token"`
}

func (p *page) changes(query url.Values) (out changePage, err error) {
	return out, p.api.get(p.r.Context(), p.account("changes"), query, &out)
}

// timeOf parses a day and returns the beginning of the day that is some days later. It returns other text unchanged, and
// the API validates it.
func timeOf(text string, days int) string {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return text
	}
	return day.AddDate(0, 0, days).Format(time.RFC3339)
}

func showChanges(p *page) error {
	v := changesView{Actor: p.field("actor"), Subject: p.field("subject"), Action: p.field("action"), Since: p.field("since"), Until: p.field("until")}
	query := given("page_size", "50", "actor", v.Actor, "subject", v.Subject, "action", v.Action,
		"since", timeOf(v.Since, 0), "until", timeOf(v.Until, 1), "page_token", p.field("page_token"))
	answer, err := p.changes(query)
	if refused, ok := isRefusal(err, http.StatusBadRequest, http.StatusForbidden); ok {
		v.Problem = refused
		return p.show(refused.Status, "changes", "Changes", "/changes", v)
	}
	if err != nil {
		return err
	}
	v.Changes, v.Next = answer.Changes, answer.Next
	if err := p.named(v.Changes); err != nil {
		return err
	}
	if v.may, err = p.may("", undoActions...); err != nil {
		return err
	}
	return p.show(http.StatusOK, "changes", "Changes", "/changes", v)
}
