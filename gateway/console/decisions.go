package console

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"

	"github.com/portcullis-authz/portcullis/resources"
)

// decisionsPages returns the handlers of the decision log, by pattern.
func decisionsPages() map[string]func(*page) error {
	return map[string]func(*page) error{"GET /decisions": showDecisions, "GET /decisions/{id}": showDecision}
}

// decisionFilters are the API's names of the fields of a search.
var decisionFilters = []string{"user", "action", "place", "path", "since", "until"}

// decisionsView is the data of the page of decisions.
type decisionsView struct {
	Decisions []decision
	// User and the other filters are the typed texts. Verdict is deny, allow, or "" for both.
	User, Action, Place, Path, Since, Until, Verdict string
	// Lookups is true if the page also shows lookups. Most lookups come from this console.
	Lookups bool
	// Next is the token of the next page. After is the cursor of a follower, and "" on later pages.
	Next, After string
	// Missing names the gateways that did not answer.
	Missing  []string
	Complete bool
	Problem  *apiError
}

// Filtered reports whether a filter other than the tab hides decisions.
func (v decisionsView) Filtered() bool {
	return v.User+v.Action+v.Place+v.Path+v.Since+v.Until != ""
}

// Wrong returns the API's problem with a filter, or "".
func (v decisionsView) Wrong(filter string) string { return v.Problem.Field(filter) }

// Followable reports whether the page can follow newer decisions.
func (v decisionsView) Followable() bool { return v.After != "" && v.Until == "" }

// values returns the filters as a query of this page, with a verdict.
func (v decisionsView) values(verdict string) url.Values {
	out := given("user", v.User, "action", v.Action, "place", v.Place, "path", v.Path, "since", v.Since, "until", v.Until, "verdict", verdict)
	if v.Lookups {
		out.Set("lookups", "true")
	}
	return out
}

// query returns the filters as a query of the API.
func (v decisionsView) query() url.Values {
	out := v.values(v.Verdict)
	out.Set("lookups", strconv.FormatBool(v.Lookups))
	return out
}

// Switch returns the address that shows lookups if they are hidden, and hides them otherwise.
func (v decisionsView) Switch() string {
	v.Lookups = !v.Lookups
	return v.Here()
}

// shown returns the verdict for the address of a page. An address without a verdict lets the page choose.
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

// Follow returns the address from which the script loads newer rows.
func (v decisionsView) Follow() string { return "/decisions/new?" + v.values(v.shown()).Encode() }

// Paths returns the kinds of decisions with their names in the log.
func (decisionsView) Paths() []entry {
	return []entry{
		{Name: "Anything", Path: ""},
		{Name: "Questions", Path: "authz/decision"},
		{Name: "Calls of the API", Path: "authz/access"},
		{Name: "Grants that may be made", Path: "authz/grantable"},
		{Name: "Calls at MCP servers", Path: resources.PathMCPCall},
		{Name: "Ends of those calls", Path: resources.PathMCPOutcome},
	}
}

// decisionPage is a page of the decision log.
type decisionPage struct {
	Decisions []decision `json:"decisions"`
	Next      string     `json:"next_page_token"`
	After     string     `json:"after"`
	LeftOut   bool       `json:"left_out"`
	Complete  bool       `json:"complete"`
	Missing   []string   `json:"missing"`
}

// readDecisionFilters reads the filters from the address of a page.
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

// decisions reads a page of decisions from the API.
func (p *page) decisions(query url.Values) (out decisionPage, err error) {
	return out, p.api.get(p.r.Context(), p.account("decisions"), query, &out)
}

// showDecisions shows the newest decisions. An address without a verdict shows denials or, without denials, all.
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

// mostPages limits the pages of a search for one decision.
const mostPages = 10

// decisionView is the data of the page of one decision.
type decisionView struct {
	decision
	Input, Result treeNode
}

// showDecision shows one decision.
func showDecision(p *page) error {
	query := url.Values{"id": {p.r.PathValue("id")}}
	complete, more := true, true
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
		if complete, more = complete && answer.Complete, answer.Next != ""; !more {
			break
		}
		query.Set("page_token", answer.Next)
	}
	if !complete || more {
		return &apiError{Status: http.StatusServiceUnavailable, Message: "Not all logs could be searched for this decision. Try again in a moment."}
	}
	return &apiError{Status: http.StatusNotFound, Message: "Your account has no decision with this id, or the log no longer keeps it."}
}
