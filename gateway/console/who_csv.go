package console

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"
	"unicode"
)

const (
	// perCSVPage is the number of results that one call reads.
	perCSVPage = 1000
	// maxCSVRows limits a file. A search with more results gets no file, since a truncated list looks complete.
	maxCSVRows = 100_000
)

// whoCSV returns all results of a search, or a page of the matrix, as a CSV file.
func whoCSV(p *page) error {
	v, err := p.readWho()
	if err != nil {
		return err
	}
	var rows [][]string
	switch {
	case v.Missing():
		return &apiError{Status: http.StatusBadRequest, Message: "A field of the search is empty. Fill it in, and download again."}
	case v.Find == findMatrix:
		rows, err = p.matrixRows(v)
	default:
		rows, err = p.searchRows(v)
	}
	if err != nil {
		return err
	}
	var file bytes.Buffer
	out := csv.NewWriter(&file)
	out.UseCRLF = true
	for _, row := range rows {
		for i := range row {
			row[i] = harmless(row[i])
		}
	}
	if err := out.WriteAll(rows); err != nil {
		return err
	}
	h := p.w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
	h.Set("Content-Disposition", `attachment; filename="who-can-`+v.Find+`.csv"`)
	h.Set("Content-Length", strconv.Itoa(file.Len()))
	_, err = p.w.Write(file.Bytes())
	return err
}

// searchRows reads all pages of a search.
func (p *page) searchRows(v *whoView) ([][]string, error) {
	rows := [][]string{{"user", "name", "email", "action", "project", "resource", "complete"}}
	kind, t := p.tupleFor(v)
	token := ""
	for {
		answer, err := p.search(kind, t, perCSVPage, token)
		if err != nil {
			return nil, err
		}
		for _, one := range answer.Results {
			q := v.Asked(one)
			user := v.Choices.Person(q.User)
			rows = append(rows, []string{q.User, user.Name, user.Email, q.Action, q.Project, q.Resource, strconv.FormatBool(answer.Context.Complete)})
		}
		switch token = answer.Page.Next; {
		case token == "":
			return rows, nil
		case len(rows) > maxCSVRows:
			return nil, &apiError{Status: http.StatusRequestEntityTooLarge, Message: "The search has more than " + strconv.Itoa(maxCSVRows) + " results. Name a project or a resource."}
		}
	}
}

// matrixRows returns the cells of a page of the matrix, each with its question.
func (p *page) matrixRows(v *whoView) ([][]string, error) {
	m, err := p.matrix(v)
	if err != nil {
		return nil, err
	}
	rows := [][]string{{"user", "name", "email", "action", "project", "resource", "answer", "reason"}}
	for _, row := range m.Rows {
		for _, cell := range row.Cells {
			rows = append(rows, []string{row.Who.ID, row.Who.Name, row.Who.Email, cell.Action, v.Project, v.Resource, cell.Word(), cell.Reason})
		}
	}
	return rows, nil
}

// harmless escapes each part of a cell that a spreadsheet would run as a formula. Some spreadsheets also separate cells at a
// semicolon, a tab or a line end, ignore spaces before a sign, and read signs of full width.
func harmless(cell string) string {
	const ends = "\t\r\n"
	var out strings.Builder
	begins := true
	for i, r := range cell {
		if begins && strings.ContainsRune("=+-@＝＋－＠", r) || i == 0 && strings.ContainsRune(ends, r) {
			out.WriteByte('\'')
		}
		out.WriteRune(r)
		begins = strings.ContainsRune(";"+ends, r) || begins && unicode.IsSpace(r)
	}
	return out.String()
}
