package route

import (
	"fmt"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// readParams reads the parameters of the row's path. The error says what is wrong with the path.
func (r *Row) readParams() error {
	path := r.Route.Path
	if !strings.HasPrefix(path, "/") {
		return fmt.Errorf("the path must begin with /")
	}
	for segment := range strings.SplitSeq(path[1:], "/") {
		if segment == restParam || segment == proxyParam {
			if strings.Index(path, "/"+segment)+len("/"+segment) != len(path) {
				return fmt.Errorf("%s must be the last segment", segment)
			}
			break
		}
		name, form, ok := param(segment)
		switch {
		case ok && (name == "" || strings.ContainsAny(name, "{}+")), !ok && strings.ContainsAny(segment, "{}"):
			return fmt.Errorf("segment %s must be plain, {name} or {name:form}; only the last one may be %s", segment, restParam)
		case !ok:
			continue
		}
		if slices.Contains(r.Params, name) {
			return fmt.Errorf("has the parameter %s twice", name)
		}
		if form != "" && !resources.KnownIDForm(form) {
			return fmt.Errorf("parameter %s: there are no ids of the form %s-<id>-v1", name, form)
		}
		r.Params, r.Forms = append(r.Params, name), append(r.Forms, form)
	}
	return nil
}

// Named returns the values that a path has for the row's parameters by their names.
func (r *Row) Named(values []string) map[string]string {
	out := make(map[string]string, len(r.Params))
	for i, value := range values[:min(len(values), len(r.Params))] {
		out[r.Params[i]] = value
	}
	return out
}

// Problems returns what is wrong with the values that a path has for the row's parameters.
func (r *Row) Problems(values []string) (out []resources.Problem) {
	for i, value := range values[:min(len(values), len(r.Params))] {
		switch form := r.Forms[i]; {
		case form != "" && !resources.ValidExternalID(form, value):
			out = append(out, resources.Problem{Field: r.Params[i], Text: "must match ^" + form + "-[a-zA-Z0-9]+-v1$"})
		case form == "" && !resources.ValidID(value):
			out = append(out, resources.Problem{Field: r.Params[i], Text: resources.IDRule})
		}
	}
	return out
}
