package catalogue

import (
	"fmt"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/route"
	"github.com/portcullis-authz/portcullis/resources"
)

// The headers that tell messages of MCP apart.
const (
	HeaderMCPMethod  = "Mcp-Method"
	HeaderMCPName    = "Mcp-Name"
	HeaderMCPVersion = "MCP-Protocol-Version"
)

// MCPHeaders are the MCP headers of a call.
type MCPHeaders struct {
	Version string
	resources.RouteMCP
	// Malformed is the name of a header that was sent twice, empty or in another spelling; "" if there is none.
	Malformed string
}

// claim adds a row for one message to those of the same path. taken is the first one, nil if it is this row. Beside such
// rows no other one has the path: it would get the messages without a row.
func (x *Index) claim(row, taken *route.Row) error {
	m := row.Route.MCP
	switch {
	case taken == nil && m.Named():
		if x.messages == nil {
			x.messages = map[*route.Row]map[resources.RouteMCP]*route.Row{}
		}
		x.messages[row] = map[resources.RouteMCP]*route.Row{m: row}
	case taken == nil:
	case m.Named() != taken.Route.MCP.Named():
		return fmt.Errorf("has the method, host and path of route %s, and one of them has no mcp", taken.Route.Name)
	case x.messages[taken][m] != nil:
		return fmt.Errorf("has the method, host, path and mcp of route %s", x.messages[taken][m].Route.Name)
	case m.Named():
		x.messages[taken][m] = row
	default:
		return fmt.Errorf("has the method, host and path of route %s", taken.Route.Name)
	}
	return nil
}

// isModern says whether a revision, a date, is resources.MCPRevisionModern or later.
func isModern(revision string) bool {
	_, err := time.Parse(time.DateOnly, revision)
	return err == nil && revision >= resources.MCPRevisionModern
}

// row returns the row of a message. The error is KindNotFound without one, and KindBadRequest for headers that the service
// might not hold to the body. An older revision has no such rule.
func (h MCPHeaders) row(messages map[resources.RouteMCP]*route.Row) (*route.Row, error) {
	switch {
	case h.Method == "" && h.Malformed == "":
		return nil, &resources.Error{Kind: resources.KindNotFound, Message: "The routes of this path are for calls with the headers Mcp-Method and Mcp-Name."}
	case h.Malformed != "":
		return nil, resources.BadRequest(resources.Problem{Field: h.Malformed, Text: "must be sent once, in one spelling, with hyphens and with a value"})
	case !isModern(h.Version):
		return nil, resources.BadRequest(resources.Problem{Field: HeaderMCPVersion, Text: "must be " + resources.MCPRevisionModern + " or later: a server of an older revision does not compare the headers with the body"})
	}
	if row := messages[h.RouteMCP]; row != nil {
		return row, nil
	}
	return nil, noRow()
}
