package console

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
)

// decisionsPages are those of the decision log.
func decisionsPages() map[string]func(*page) error {
	return map[string]func(*page) error{"GET /decisions": showDecisions, "GET /decisions/{id}": showDecision}
}

// decisionFilters are the fields of a search, by their names in the API.
var decisionFilters = []string{"user", "action", "place", "path", "since", "until"}

// decisionsView is the page of decisions.
type decisionsView struct {
	Decisions []decision
	// User and the other filters are as the user typed them; Verdict is deny, allow, or "" for both.
	User, Action, Place, Path, Since, Until, Verdict string
	// Lookups says whether the page also shows what people look up, for the most part in this console.
	Lookups bool
	// Next is the token of the next page, After the cursor of a follower; "" on other pages than the first.
	Next, After string
	// Missing are the gateways that did not answer.
	Missing  []string
	Complete bool
	Problem  *apiError
}

// Filtered reports whether the page shows some decisions alone, beside its tab.
func (v decisionsView) Filtered() bool {
	return v.User+v.Action+v.Place+v.Path+v.Since+v.Until != ""
}

// Wrong is what the API says about a filter, "" for nothing.
func (v decisionsView) Wrong(filter string) string {
	if v.Problem == nil {
		return ""
	}
	return v.Problem.Field(filter)
}

// Followable reports whether newer decisions than those of the page may come.
func (v decisionsView) Followable() bool { return v.After != "" && v.Until == "" }

// values are the filters as a query, with the verdict as the page names it.
func (v decisionsView) values(verdict string) url.Values {
	out := url.Values{}
	for name, value := range map[string]string{"user": v.User, "action": v.Action, "place": v.Place, "path": v.Path, "since": v.Since, "until": v.Until, "verdict": verdict} {
		if value != "" {
			out.Set(name, value)
		}
	}
	if v.Lookups {
		out.Set("lookups", "true")
	}
	return out
}

// query are the filters as the API has them.
func (v decisionsView) query() url.Values {
	out := v.values(v.Verdict)
	out.Set("lookups", strconv.FormatBool(v.Lookups))
	return out
}

// Switch returns the address of the page with lookups, or without them.
func (v decisionsView) Switch() string {
	v.Lookups = !v.Lookups
	return v.Here()
}

// shown is the verdict as the address of a page names it: without one the page chooses.
func (v decisionsView) shown() string { return cmp.Or(v.Verdict, "all") }

// Tab returns the address of the page with the same filters and another verdict.
func (v decisionsView) Tab(verdict string) string { return "/decisions?" + v.values(verdict).Encode() }

// Here returns the address of the page with its filters.
func (v decisionsView) Here() string { return v.Tab(v.shown()) }

// Older returns the address of the next page.
func (v decisionsView) Older() string {
	values := v.values(v.shown())
	values.Set("page_token", v.Next)
	return "/decisions?" + values.Encode()
}

// Follow returns the address at which the script asks for newer rows.
func (v decisionsView) Follow() string { return "/decisions/new?" + v.values(v.shown()).Encode() }

// Paths are what a decision may be about, by their names in the log.
func (decisionsView) Paths() []entry {
	return []entry{
		{Name: "Anything", Path: ""},
		{Name: "Questions", Path: "authz/decision"},
		{Name: "Calls of the API", Path: "authz/access"},
		{Name: "Grants that may be made", Path: "authz/grantable"},
	}
}

// decisionPage is an answer of the API.
type decisionPage struct {
	Decisions []decision `json:"decisions"`
	Next      string     `json:"next_page_token"`
	After     string     `json:"after"`
	Complete  bool       `json:"complete"`
	Missing   []string   `json:"missing"`
}

// readDecisionFilters reads the filters of a page. The verdict of a page without one is "" as well.
func readDecisionFilters(p *page) decisionsView {
	v := decisionsView{Complete: true, Lookups: p.field("lookups") == "true"}
	for i, field := range []*string{&v.User, &v.Action, &v.Place, &v.Path, &v.Since, &v.Until} {
		*field = p.field(decisionFilters[i])
	}
	if v.Verdict = p.field("verdict"); v.Verdict == "all" {
		v.Verdict = ""
	}
	return v
}

// decisions asks the API for a page of decisions.
func (p *page) decisions(query url.Values) (out decisionPage, err error) {
	return out, p.api.get(p.r.Context(), p.account("decisions"), query, &out)
}

// showDecisions shows the newest decisions: those that deny, unless there are none or the address says otherwise.
func showDecisions(p *page) error {
	v := readDecisionFilters(p)
	chosen := p.field("verdict") != ""
	if !chosen {
		v.Verdict = "deny"
	}
	token := p.field("page_token")
	read := func() (decisionPage, error) {
		query := v.query()
		query.Set("page_size", "50")
		if token != "" {
			query.Set("page_token", token)
		}
		return p.decisions(query)
	}
	answer, err := read()
	if err == nil && !chosen && len(answer.Decisions) == 0 && answer.Next == "" {
		v.Verdict = ""
		answer, err = read()
	}
	if refused, ok := isRefusal(err, http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound); ok {
		v.Problem = refused
		return p.show(refused.Status, "decisions", "Decisions", "/decisions", v)
	}
	if err != nil {
		return err
	}
	if err := p.nameUsers(answer.Decisions); err != nil {
		return err
	}
	v.Decisions, v.Next, v.Complete, v.Missing = answer.Decisions, answer.Next, answer.Complete, answer.Missing
	if token == "" {
		v.After = answer.After
	}
	return p.show(http.StatusOK, "decisions", "Decisions", "/decisions", v)
}

// mostPages bounds the pages in which a decision is looked for: a search has as much time as a page.
const mostPages = 10

// decisionView is the page of one decision.
type decisionView struct {
	decision
	Input, Result treeNode
}

// showDecision shows a decision whole.
func showDecision(p *page) error {
	query := url.Values{"id": {p.r.PathValue("id")}}
	for range mostPages {
		answer, err := p.decisions(query)
		if refused, bad := isRefusal(err, http.StatusBadRequest); bad && refused.Field("id") != "" {
			return errNoPage
		}
		if err != nil {
			return err
		}
		if len(answer.Decisions) > 0 {
			if err := p.nameUsers(answer.Decisions[:1]); err != nil {
				return err
			}
			d := answer.Decisions[0]
			v := decisionView{decision: d, Input: treeOf("input", d.RawInput), Result: treeOf("result", d.RawResult)}
			return p.show(http.StatusOK, "decision", "Decision", "/decisions", v)
		}
		if answer.Next == "" {
			break
		}
		query.Set("page_token", answer.Next)
	}
	return &apiError{Status: http.StatusNotFound, Message: "The decision log has no such decision of your account, or keeps it no more."}
}
