package doors

import "github.com/portcullis-authz/portcullis/gateway/catalogue"

// MCPHeaders returns the call's MCP headers.
func (o *Original) MCPHeaders() (h catalogue.MCPHeaders) {
	for _, one := range [...]struct {
		name  string
		value *string
	}{{catalogue.HeaderMCPMethod, &h.Method}, {catalogue.HeaderMCPName, &h.Name}, {catalogue.HeaderMCPVersion, &h.Version}} {
		values, odd := o.Headers.Values(one.name)
		switch {
		case odd || len(values) > 1 || len(values) == 1 && values[0] == "":
			h.Malformed = one.name
		case len(values) == 1:
			*one.value = values[0]
		}
	}
	return h
}

// call returns the call with its MCP headers.
func (o *Original) call() catalogue.Call {
	c := o.Call
	if o.Headers != nil {
		c.MCP = o
	}
	return c
}
