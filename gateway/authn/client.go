package authn

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/portcullis-authz/portcullis/resources"
)

// maxActors bounds how deep `act` is nested.
const maxActors = 8

var errClient = errors.New("the token's act, client_id or azp is malformed")

// readClient returns a token's client without its issuer. Beside an error the client has one actor without a name: a malformed
// actor must not count as none.
func readClient(members map[string]jsontext.Value) (*resources.Client, error) {
	c := &resources.Client{}
	var err error
	if c.Actors, err = readActors(members); err == nil {
		var id, party string
		id, err = clientMember(members, "client_id")
		if err == nil {
			party, err = clientMember(members, "azp")
		}
		c.ID = cmp.Or(id, party)
	}
	if err != nil {
		return &resources.Client{Actors: []string{""}}, err
	}
	if len(c.Actors) > 0 {
		c.ID = c.Actors[0]
	}
	return c, nil
}

// readActors returns the subjects of `act`, the outermost first (RFC 8693, 4.1).
func readActors(members map[string]jsontext.Value) (actors []string, err error) {
	for raw, nested := members["act"]; nested; raw, nested = members["act"] {
		if len(actors) == maxActors {
			return nil, fmt.Errorf("act: nested deeper than %d: %w", maxActors, errClient)
		}
		if members, err = strictObject(raw); err != nil {
			return nil, fmt.Errorf("act: %w", joined(errClient, err))
		}
		sub, err := clientMember(members, "sub")
		if err != nil || sub == "" {
			return nil, fmt.Errorf("act: %w", joined(errClient, err))
		}
		actors = append(actors, sub)
	}
	return actors, nil
}

// clientMember returns the name of a client, "" if the member is missing.
func clientMember(members map[string]jsontext.Value, name string) (string, error) {
	value, err := stringMember(members, name)
	if _, sent := members[name]; err == nil && sent && !resources.ValidSubject(value) {
		err = fmt.Errorf("%s: %w", name, errMember)
	}
	if err != nil {
		return "", joined(errClient, err)
	}
	return value, nil
}
