package decisionlog

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/portcullis-authz/portcullis/resources"
)

// mayWant reports whether a line may have a wanted record. It parses few members of the line. Masked records are always
// parsed whole, since their ids may stand in the line of their facts.
func (f *Filter) mayWant(raw []byte) bool {
	switch _, kind := shape(raw); string(kind) {
	case "told":
		return mayHave(raw, f.Account) && mayHave(raw, f.ID) && (f.Allowed == nil || mayBe(raw, *f.Allowed)) &&
			(!f.WithoutLookups || !isLookup(raw))
	case "event":
		return true
	}
	return false
}

// mayHave reports whether a line may have an id, "" for any. A line may contain an id of another form with escapes.
func mayHave(raw []byte, id string) bool {
	return id == "" || !resources.ValidID(id) || bytes.Contains(raw, []byte(id))
}

// allowText stands in the line of each allow, and also of some denials: what callers wrote is in the line, too.
var allowText = []byte(`"allow":true`)

// mayBe reports whether the record of a line may have the verdict.
func mayBe(raw []byte, allowed bool) bool {
	return bytes.Contains(raw, allowText) == allowed || !allowed && !allows(raw)
}

// trusting spares the search for repeated names. The gateway repeats none.
var trusting = jsontext.AllowDuplicateNames(true)

// isLookup reports whether the record of a line is certain to be a lookup. It parses no line without the text of a lookup.
func isLookup(raw []byte) bool {
	if !bytes.Contains(raw, allowText) && !bytes.Contains(raw, []byte(`"name":"`+routeOfBatches+`"`)) {
		return false
	}
	if !bytes.Contains(raw, []byte(`"kind":"`+resources.PrincipalUser+`"`)) || !bytes.Contains(raw, []byte(`"credential":"`+resources.CredentialToken+`"`)) {
		return false
	}
	var l struct {
		Record struct {
			Path   string `json:"path"`
			Allow  bool   `json:"allow"`
			Caller struct {
				Kind       string `json:"kind"`
				Credential string `json:"credential"`
			} `json:"caller"`
			Route struct {
				Name   string `json:"name"`
				Effect string `json:"effect"`
			} `json:"route"`
		} `json:"told"`
	}
	if json.Unmarshal(raw, &l, trusting) != nil {
		return false
	}
	r := &l.Record
	a := summary{path: r.Path, allowed: r.Allow, person: isPerson(r.Caller.Kind, r.Caller.Credential), route: r.Route.Name, effect: r.Route.Effect}
	return a.isLookup()
}

// allows reports whether the record of a line is certain to be an allow.
func allows(raw []byte) bool {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), trusting)
	for d.StackDepth() < 2 { // to the record's first member
		if _, err := d.ReadToken(); err != nil {
			return false
		}
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return false
		}
		if name.String() == "allow" {
			value, err := d.ReadToken()
			return err == nil && value.Kind() == 't'
		}
		if d.SkipValue() != nil {
			return false
		}
	}
	return false
}
