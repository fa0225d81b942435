package console

import (
	"net/url"
	"strconv"
	"strings"
)

// The size of a matrix.
const (
	matrixPeople  = 25
	matrixActions = 20
)

// matrix has people, actions, and the answer for each pair at one place.
type matrix struct {
	// People is what the e-mail addresses, names or ids of the people begin with, "" for all.
	People string
	// Filter is the text that the actions have, From the number of the first one shown, from 0, and Matching how many
	// have the text.
	Filter         string
	From, Matching int
	Actions        []string
	Rows           []matrixRow
	// Token is for this page of people, "" for the first one. Next is for the next page, "" after the last one.
	Token, Next string
}

type matrixRow struct {
	Who   person
	Cells []matrixCell
}

// matrixCell is one question with its answer.
type matrixCell struct {
	judged
	question
}

// Word says the answer.
func (c matrixCell) Word() string {
	switch {
	case !c.Asked:
		return "unknown"
	case c.Allowed:
		return "yes"
	}
	return "no"
}

// Last returns the number of the last action shown, from 1.
func (m matrix) Last() int { return m.From + len(m.Actions) }

// First returns the number of the first action shown, from 1.
func (m matrix) First() int { return m.From + 1 }

// step returns the address of the matrix with other people or actions.
func (v whoView) step(token string, first int) string {
	number := ""
	if first > 0 {
		number = strconv.Itoa(first)
	}
	return v.Link("/who", "find", findMatrix, "people", v.Matrix.People, "actions", v.Matrix.Filter, "page_token", token, "from", number)
}

// MorePeople returns the address of the next people with the same actions, "" after the last ones.
func (v whoView) MorePeople() string {
	if v.Matrix.Next == "" {
		return ""
	}
	return v.step(v.Matrix.Next, v.Matrix.From)
}

// MoreActions returns the address of the next actions of the same people, "" after the last ones.
func (v whoView) MoreActions() string {
	if v.Matrix.Last() >= v.Matrix.Matching {
		return ""
	}
	return v.step(v.Matrix.Token, v.Matrix.Last())
}

// FewerActions returns the address of the actions before these, "" before the first ones.
func (v whoView) FewerActions() string {
	if v.Matrix.From == 0 {
		return ""
	}
	return v.step(v.Matrix.Token, max(0, v.Matrix.From-matrixActions))
}

// FirstPeople returns the address of the first people, "" if they are shown.
func (v whoView) FirstPeople() string {
	if v.Matrix.Token == "" {
		return ""
	}
	return v.step("", v.Matrix.From)
}

// MatrixCSV returns the address of the matrix as a file.
func (v whoView) MatrixCSV() string {
	return strings.Replace(v.step(v.Matrix.Token, v.Matrix.From), "/who?", "/who.csv?", 1)
}

// matrix reads a page of people, and asks about all of their cells. With a refusal in the middle it also returns what
// was answered before.
func (p *page) matrix(v *whoView) (*matrix, error) {
	m := &matrix{People: p.field("people"), Filter: p.field("actions"), Token: p.field("page_token")}
	m.choose(v, p.field("from"))
	query := url.Values{"page_size": {strconv.Itoa(matrixPeople)}}
	for name, value := range map[string]string{"q": m.People, "page_token": m.Token} {
		if value != "" {
			query.Set(name, value)
		}
	}
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

// choose chooses the actions: those with the text of the filter. In a project account actions are not asked, unless the
// filter names them.
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

// Unknown returns why the first cell without an answer has none, "" if all have one.
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
