package clusters

import (
	"regexp"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// dnsLabel is a name that may stand in a host name (RFC 1123), in lower case, as
// Kubernetes wants it: names that differ in case would be one there.
var dnsLabel = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// readName reads a cluster's name, which must be there.
func readName(body *wire.Object, field string) string {
	name := body.Required(field)
	if name != "" && !dnsLabel.MatchString(name) {
		body.Add(field, "must be a DNS label: 1 to 63 of a to z, 0 to 9 and -, and neither begin nor end with -")
	}
	return name
}

// requiredID reads a plain identifier that must be there.
func requiredID(body *wire.Object, field string) string {
	id := body.Required(field)
	if id != "" {
		checkID(body, field, id)
	}
	return id
}

// optionalID reads a plain identifier, "" where it is left out.
func optionalID(body *wire.Object, field string) string {
	id, ok := body.Text(field)
	if ok {
		checkID(body, field, id)
	}
	return id
}

func checkID(body *wire.Object, field, id string) {
	if !resources.ValidID(id) {
		body.Add(field, resources.IDRule)
	}
}

// readCount reads a whole number from 1; one where it is left out.
func readCount(body *wire.Object, field string, most int64) int {
	n, ok := body.Int(field)
	switch {
	case !ok:
		return 1
	case n < 1 || n > most:
		body.Add(field, "must be a whole number from 1 to %d", most)
		return 1
	}
	return int(n)
}
