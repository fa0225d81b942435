package decisionlog

import (
	"bytes"

	"github.com/portcullis-authz/portcullis/resources"
)

// mayWant reports whether a line may have a wanted record. Masked records are always parsed whole, since their ids may
// stand in the line of their facts.
func (f *Filter) mayWant(raw []byte) bool {
	switch _, kind := shape(raw); string(kind) {
	case "told":
		return mayHave(raw, f.Account) && mayHave(raw, f.ID) && f.mayWantKind(raw)
	case "event":
		return true
	}
	return false
}

// mayHave reports whether a line may have an id, "" for any. A line may contain an id of another form with escapes.
func mayHave(raw []byte, id string) bool {
	return id == "" || !resources.ValidID(id) || bytes.Contains(raw, []byte(id))
}

// allowText is in the line of each allow. A caller's own JSON can have it, too.
var allowText = []byte(`"allow":true`)

// mayWantKind compares verdict and kind of the record of a line.
func (f *Filter) mayWantKind(raw []byte) bool {
	if f.Allowed != nil && *f.Allowed && !bytes.Contains(raw, allowText) {
		return false
	}
	a := glance(raw)
	return (f.Allowed == nil || *f.Allowed || !a.allowed) && (!f.WithoutLookups || !a.isLookup())
}

// glance returns what the first members of a record say, by the bytes of its line: no parser is as fast. They hold texts of
// the gateway, which contain no bare quote. What it does not find, as in lines of former versions, stays empty.
func glance(raw []byte) (a summary) {
	_, rest, _ := bytes.Cut(raw, []byte(`,"told":{`))
	rest, a.allowed = bytes.CutPrefix(rest, []byte(`"allow":true,`))
	rest, ok := bytes.CutPrefix(rest, []byte(`"path":"`))
	path, rest, _ := bytes.Cut(rest, []byte{'"'})
	rest, routed := bytes.CutPrefix(rest, []byte(`,"route":{"name":"`))
	name, rest, _ := bytes.Cut(rest, []byte{'"'})
	route, rest, _ := bytes.Cut(rest, []byte{'}'})
	caller, isUser := bytes.CutPrefix(rest, []byte(`,"caller":{"kind":"`+resources.PrincipalUser+`",`))
	if !ok || !routed || !isUser {
		return a
	}
	caller, _, _ = bytes.Cut(caller, []byte{'}'})
	a.path, a.route = string(path), string(name)
	if bytes.Contains(route, []byte(`"effect":"`+resources.EffectRead+`"`)) {
		a.effect = resources.EffectRead
	}
	a.person = bytes.Contains(caller, []byte(`"credential":"`+resources.CredentialToken+`"`))
	return a
}
