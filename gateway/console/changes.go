package console

import (
	"net/http"
	"net/url"
	"time"
)

// changesPages are those of the change log.
func changesPages() map[string]func(*page) error {
	return map[string]func(*page) error{"GET /changes": showChanges, "GET /changes/undo": confirmUndo, "POST /changes/undo": undo}
}

// changesView is the page of changes.
type changesView struct {
	Changes                []change
	Next                   string
	Actor, Subject, Action string
	// Since and Until are days, or times as the API has them. Until is the last day.
	Since, Until string
	Problem      *apiError
	// may says which undo calls the user may make.
	may map[string]bool
}

// Filtered reports whether the page shows some changes alone.
func (v changesView) Filtered() bool { return v.Actor+v.Subject+v.Action+v.Since+v.Until != "" }

// Wrong is what the API says about a filter, "" for nothing.
func (v changesView) Wrong(filter string) string {
	if v.Problem == nil {
		return ""
	}
	return v.Problem.Field(filter)
}

// UndoLink returns the address of the page that undoes a change, "" if no single call does or the user may not make it.
func (v changesView) UndoLink(c change) string {
	inverse := c.inverse()
	if inverse == nil || !v.may[inverse.Action] {
		return ""
	}
	return "/changes/undo?" + url.Values{"id": {c.ID}}.Encode()
}

// Older returns the address of the next page.
func (v changesView) Older() string {
	values := url.Values{"page_token": {v.Next}}
	for name, value := range map[string]string{"actor": v.Actor, "subject": v.Subject, "action": v.Action, "since": v.Since, "until": v.Until} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return "/changes?" + values.Encode()
}

// changePage is an answer of the API.
type changePage struct {
	Changes []change `json:"changes"`
	Next    string   `json:"next_page_token"`
}

func (p *page) changes(query url.Values) (out changePage, err error) {
	return out, p.api.get(p.r.Context(), p.account("changes"), query, &out)
}

// timeOf returns a day as the time at its beginning, days later, and anything else as it is for the API to judge.
func timeOf(text string, days int) string {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return text
	}
	return day.AddDate(0, 0, days).Format(time.RFC3339)
}

func showChanges(p *page) error {
	v := changesView{Actor: p.field("actor"), Subject: p.field("subject"), Action: p.field("action"), Since: p.field("since"), Until: p.field("until")}
	query := url.Values{"page_size": {"50"}}
	for name, value := range map[string]string{
		"actor": v.Actor, "subject": v.Subject, "action": v.Action, "since": timeOf(v.Since, 0), "until": timeOf(v.Until, 1), "page_token": p.field("page_token"),
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
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
