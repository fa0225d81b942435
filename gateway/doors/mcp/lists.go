package mcp

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
	"github.com/portcullis-authz/portcullis/resources"
)

// narrowList removes from a list what the caller may not use, by the verdicts that calls get now: the server may have taken
// minutes to answer.
func (v *visit) narrowList(ctx context.Context, p *posted, raw []byte) ([]byte, error) {
	list, err := message.ReadList(p.Method, raw)
	if errors.Is(err, message.ErrNoList) {
		return raw, nil
	}
	if err != nil {
		return nil, err
	}
	judge, now := v.Door.Judge.Pinned().Quiet(), *v
	if now.server = judge.Pin().MCPServer(v.place.server); now.server == nil {
		return nil, errGone
	}
	rows, asked := now.listedRows(p.Method, list.Items)
	allowed := make([]bool, len(rows))
	if len(rows) > 0 {
		v.call.Rates.Owe(len(rows) - 1)
		out, err := now.ask(ctx, judge, rows...)
		if err != nil {
			return nil, err
		}
		for i := range out {
			allowed[i] = out[i].Allowed
		}
	}
	return list.Write(p.era, func(item message.Item) bool {
		i, ok := asked[item.Name]
		return ok && allowed[i]
	}), nil
}

// listedRows returns the rows about which a list asks, and the index of each name's row. Nobody may use a name without a
// row, and resources with one action have one verdict. So a server's list asks no more than the policy has rows.
func (v *visit) listedRows(method string, items []message.Item) (rows []row, asked map[string]int) {
	asked = map[string]int{}
	byAction := map[string]int{}
	for _, item := range items {
		r := v.itemRow(method, item)
		if !r.listed {
			continue
		}
		i, ok := byAction[r.action.ID]
		if !ok || r.kind != kindResource {
			i, rows = len(rows), append(rows, r)
			byAction[r.action.ID] = i
		}
		asked[item.Name] = i
	}
	return rows, asked
}

// itemRow returns the row of an item. A tool with a changed definition counts as one without a row.
func (v *visit) itemRow(method string, item message.Item) row {
	switch method {
	case message.MethodTools:
		r := toolRow(v.server, item.Name)
		if r.listed && v.server.Pin == resources.MCPPinDefinitions {
			if is, err := v.Pins.definitionOf(item.Raw); err != nil || is != r.definition {
				r.listed = false
				v.Pins.Changed(v.server.Name) // from the next listing on, calls are denied too
			}
		}
		return r
	case message.MethodPrompts:
		return promptRow(v.server, item.Name)
	case message.MethodTemplates:
		return templateRow(v.server, item.Name)
	}
	return resourceRow(v.server, item.Name)
}
