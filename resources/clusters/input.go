package clusters

import (
	"regexp"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// dnsLabel is a label of a host name (RFC 1123) in lower case. Kubernetes takes no other names.
var dnsLabel = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// readName reads the required name of a cluster.
func readName(body *wire.Object, field string) string {
	name := body.Required(field)
	if name != "" && !dnsLabel.MatchString(name) {
		body.Add(field, "must be a DNS label: 1 to 63 of a to z, 0 to 9 and -, and neither begin nor end with -")
	}
	return name
}

// requiredID reads a required plain identifier.
func requiredID(body *wire.Object, field string) string {
	id := body.Required(field)
	if id != "" {
		checkID(body, field, id)
	}
	return id
}

// optionalID reads a plain identifier, "" if it is absent.
func optionalID(body *wire.Object, field string) string {
	id, ok := body.Text(field)
	if ok {
		checkID(body, field, id)
	}
	return id
}

// checkID adds a problem to a malformed identifier.
func checkID(body *wire.Object, field, id string) {
	if !resources.ValidID(id) {
		body.Add(field, resources.IDRule)
	}
}
