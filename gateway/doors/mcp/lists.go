package mcp

import (
	"context"
	"errors"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/message"
	"github.com/portcullis-authz/portcullis/resources"
)

// narrowList removes from a list what the caller may not use, by the verdicts that calls get.
func (v *visit) narrowList(ctx context.Context, p *posted, raw []byte) ([]byte, error) {
	list, err := message.ReadList(p.Method, raw)
	if errors.Is(err, message.ErrNoList) {
		return raw, nil
	}
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(list.Items))
	for i, item := range list.Items {
		rows[i] = v.itemRow(p.Method, item)
	}
	keep := map[string]bool{}
	if len(rows) > 0 {
		v.call.Rates.Owe(len(rows) - 1)
		out, err := v.ask(ctx, v.judge.Quiet(), rows...)
		if err != nil {
			return nil, err
		}
		for i := range out {
			keep[list.Items[i].Name] = out[i].Allowed
		}
	}
	return list.Write(p.Spoken.Era, func(item message.Item) bool { return keep[item.Name] }), nil
}

// itemRow returns the row of an item. A tool with a changed definition counts as one without a row.
func (v *visit) itemRow(method string, item message.Item) row {
	switch method {
	case message.MethodTools:
		r := toolRow(v.server, item.Name)
		if v.server.Pin == resources.MCPPinDefinitions {
			is, err := v.Pins.definitionOf(item.Raw)
			if r.listed && (err != nil || is != r.definition) {
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
