package console

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"

	"github.com/portcullis-authz/portcullis/resources"
)

const (
	// denialBars is the number of minutes in the chart. denialPages limits the pages of decisions that it reads.
	denialBars  = 60
	denialPages = 5
	// The sizes of the chart, in pixels.
	barWidth, barHeight = 5, 40
)

// denials are the denials of the last hour.
type denials struct {
	Count int
	// Cut is true if the account has more denials, Complete if all gateways answered.
	Cut, Complete bool
	Codes         []deniedCode
	Bars          []bar
	// Most is the largest count of a minute.
	Most int
}

type deniedCode struct {
	Code  string
	Count int
	// Last is the newest denial.
	Last decision
}

// bar is a minute in the chart.
type bar struct{ X, Y, Width, Height int }

// Width returns the width of the chart, Height the height, in pixels.
func (denials) Width() int  { return denialBars * barWidth }
func (denials) Height() int { return barHeight }

// Text describes the chart.
func (d denials) Text() string {
	if d.Count == 0 && (d.Cut || !d.Complete) {
		return "No denials among the decisions that were read"
	}
	if d.Count == 0 {
		return "No denials in the last hour"
	}
	return "Denials by minute over the last hour, at most " + strconv.Itoa(d.Most) + " in one"
}

// denied reads the denials of the last hour.
func (p *page) denied(v *overviewView) error {
	query := url.Values{"verdict": {"deny"}, "since": {"1h"}, "lookups": {"false"}, "inputs": {"false"}, "page_size": {"100"}}
	out, all := &denials{Complete: true}, []decision{}
	for range denialPages {
		var answer decisionPage
		ok, err := p.read(p.account("decisions"), query, &answer)
		if err != nil || !ok {
			return err
		}
		all, out.Complete = append(all, answer.Decisions...), out.Complete && answer.Complete
		if out.Cut = answer.Next != ""; !out.Cut {
			break
		}
		query.Set("page_token", answer.Next)
	}
	out.count(onceEach(all), p.c.cfg.Now().UnixMilli())
	v.Denials = out
	return nil
}

// onceEach drops the records of calls at MCP servers that policy denied: the decisions have the same denial.
func onceEach(all []decision) []decision {
	ids := map[string]bool{}
	for _, one := range all {
		ids[one.ID] = true
	}
	return slices.DeleteFunc(all, func(d decision) bool { return d.Path == resources.PathMCPCall && ids[d.Parent] })
}

// count counts denials by code and by minute before now (Unix milliseconds).
func (d *denials) count(all []decision, now int64) {
	minutes := make([]int, denialBars)
	for _, one := range all {
		code := cmp.Or(one.Verdict().Code, "no code")
		i := slices.IndexFunc(d.Codes, func(c deniedCode) bool { return c.Code == code })
		if i < 0 {
			i, d.Codes = len(d.Codes), append(d.Codes, deniedCode{Code: code, Last: one})
		}
		d.Codes[i].Count++
		minute := denialBars - 1 - int((now-int64(one.At))/60_000)
		minutes[min(max(minute, 0), denialBars-1)]++
	}
	slices.SortStableFunc(d.Codes, func(a, b deniedCode) int { return cmp.Compare(b.Count, a.Count) })
	d.Count, d.Most = len(all), slices.Max(minutes)
	for i, n := range minutes {
		if n > 0 {
			height := max(2, n*barHeight/d.Most)
			d.Bars = append(d.Bars, bar{i * barWidth, barHeight - height, barWidth - 1, height})
		}
	}
}
