package route

import "github.com/portcullis-authz/portcullis/resources"

// Named returns the values that a path has for the pattern's parameters by their names.
func (p Pattern) Named(values []string) map[string]string {
	out := make(map[string]string, len(p.Params))
	for i, value := range values[:min(len(values), len(p.Params))] {
		out[p.Params[i]] = value
	}
	return out
}

// Problems returns what is wrong with the values that a path has for the pattern's parameters.
func (p Pattern) Problems(values []string) (out []resources.Problem) {
	for i, value := range values[:min(len(values), len(p.Params))] {
		switch form := p.Forms[i]; {
		case form != "" && !resources.ValidExternalID(form, value):
			out = append(out, resources.Problem{Field: p.Params[i], Text: "must match ^" + form + "-[a-zA-Z0-9]+-v1$"})
		case form == "" && !resources.ValidID(value):
			out = append(out, resources.Problem{Field: p.Params[i], Text: resources.IDRule})
		}
	}
	return out
}
