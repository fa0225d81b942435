package decisionlog

import (
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
)

// repeated is what neighbouring records have in common, those of a batch always: who asked, and at which route. It is
// written once for all of them.
type repeated struct {
	caller resources.Principal
	route  *resources.Route
	// text are the members of a record that has others before.
	text    []byte
	changed bool
}

// of makes the members of the question, unless they are those already.
func (r *repeated) of(q *resources.Question) {
	if len(r.text) > 0 && sameCaller(&r.caller, &q.Principal) && r.route == q.Route {
		return
	}
	r.caller, r.route = q.Principal, q.Route
	o := object{buf: r.text[:0]}
	o.object("caller", func() {
		p := &q.Principal
		o.plain("kind", p.Kind)
		o.text("id", p.ID)
		o.text("uuid", p.UUID)
		o.text("account", p.AccountID)
		o.texts("scopes", p.Scopes)
		o.plain("credential", p.Credential)
		o.texts("key_scopes", p.KeyScopes)
		o.text("key_id", p.KeyID)
	})
	if row := q.Route; row != nil {
		o.object("route", func() {
			o.text("name", row.Name)
			o.texts("access", row.Access)
			o.text("effect", row.Effect)
		})
	}
	r.text, r.changed = o.buf, o.changed
}

// sameCaller says whether records of both have the same caller.
func sameCaller(a, b *resources.Principal) bool {
	return a.Kind == b.Kind && a.ID == b.ID && a.UUID == b.UUID && a.AccountID == b.AccountID && a.Credential == b.Credential &&
		a.KeyID == b.KeyID && slices.Equal(a.Scopes, b.Scopes) && slices.Equal(a.KeyScopes, b.KeyScopes)
}
