package console

import (
	"strconv"
	"strings"
)

// The size of one page of the matrix.
const (
	matrixPeople  = 25
	matrixActions = 20
)

// matrix holds people, actions, and one verdict per pair, for one place.
type matrix struct {
	// People is a prefix of the e-mail addresses, names or ids of the people, or "" for all.
	People string
	// Filter is a text in the names of the actions. Matching is the number of actions with it, and From the index of the
	// first one shown.
	Filter         string
	From, Matching int
	Actions        []string
	Rows           []matrixRow
	// Token is the page token of these people, or "" for the first page. Next is the token of the next page, or "".
	Token, Next string
}

type matrixRow struct {
	Who   person
	Cells []matrixCell
}

// matrixCell is one question with its verdict.
type matrixCell struct {
	judged
	question
}

// Word returns the verdict as a word.
func (c matrixCell) Word() string {
	switch {
	case !c.Asked:
		return "unknown"
	case c.Allowed:
		return "yes"
	}
	return "no"
}

// Last returns the number of the last shown action, from 1.
func (m matrix) Last() int { return m.From + len(m.Actions) }

// First returns the number of the first shown action, from 1.
func (m matrix) First() int { return m.From + 1 }

// step returns the address of the matrix with other people or actions.
func (v whoView) step(token string, first int) string {
	number := ""
	if first > 0 {
		number = strconv.Itoa(first)
	}
	return v.Link("/who", "find", findMatrix, "people", v.Matrix.People, "actions", v.Matrix.Filter, "page_token", token, "from", number)
}

// MorePeople returns the address of the next people with the same actions, or "" after the last people.
func (v whoView) MorePeople() string {
	if v.Matrix.Next == "" {
		return ""
	}
	return v.step(v.Matrix.Next, v.Matrix.From)
}

// MoreActions returns the address of the next actions with the same people, or "" after the last actions.
func (v whoView) MoreActions() string {
	if v.Matrix.Last() >= v.Matrix.Matching {
		return ""
	}
	return v.step(v.Matrix.Token, v.Matrix.Last())
}

// FewerActions returns the address of the actions before these, or "" at the first actions.
func (v whoView) FewerActions() string {
	if v.Matrix.From == 0 {
		return ""
	}
	return v.step(v.Matrix.Token, max(0, v.Matrix.From-matrixActions))
}

// FirstPeople returns the address of the first people, or "" if they are shown.
func (v whoView) FirstPeople() string {
	if v.Matrix.Token == "" {
		return ""
	}
	return v.step("", v.Matrix.From)
}

// MatrixCSV returns the address of the CSV file of the matrix.
func (v whoView) MatrixCSV() string {
	return strings.Replace(v.step(v.Matrix.Token, v.Matrix.From), "/who?", "/who.csv?", 1)
}

// matrix reads a page of people and evaluates all cells. If the API refuses a batch, the cells before it keep their
// verdicts.
func (p *page) matrix(v *whoView) (*matrix, error) {
	m := &matrix{People: p.field("people"), Filter: p.field("actions"), Token: p.field("page_token")}
	m.choose(v, p.field("from"))
	query := given("page_size", strconv.Itoa(matrixPeople), "q", m.People, "page_token", m.Token)
	var users struct {
		Users []person `json:"users"`
		Next  string   `json:"next_page_token"`
	}
	if err := p.api.get(p.r.Context(), p.account("users"), query, &users); err != nil {
		return nil, err
	}
	m.Next = users.Next
	var questions []tuple
	for _, one := range users.Users {
		row := matrixRow{Who: one}
		for _, action := range m.Actions {
			q := question{one.ID, action, v.Project, v.Resource}
			row.Cells = append(row.Cells, matrixCell{question: q})
			questions = append(questions, p.tupleOf(q))
		}
		m.Rows = append(m.Rows, row)
	}
	answers, err := p.evaluate(questions)
	for i, answer := range answers {
		m.Rows[i/len(m.Actions)].Cells[i%len(m.Actions)].judged = answer
	}
	return m, err
}

// choose selects the actions that match the filter. For a project it skips account actions unless the filter names them.
func (m *matrix) choose(v *whoView, first string) {
	var all []string
	for _, one := range v.Choices.Actions {
		if strings.Contains(one.Action, m.Filter) && (m.Filter != "" || v.Project == "" || one.Scope != "account") {
			all = append(all, one.Action)
		}
	}
	m.Matching = len(all)
	if n, err := strconv.Atoi(first); err == nil && n > 0 && n < len(all) {
		m.From = n
	}
	m.Actions = all[m.From:min(m.From+matrixActions, len(all))]
}

// Unknown returns the reason of the first cell without a verdict, or "" if all cells have one.
func (m matrix) Unknown() string {
	for _, row := range m.Rows {
		for _, cell := range row.Cells {
			if !cell.Asked {
				return sentence(cell.Reason)
			}
		}
	}
	return ""
}
