package authzen

import "fmt"

// The evaluation semantics of a batch (Authorization API 1.0, 7.1.2.1).
const (
	executeAll   = "execute_all"
	firstDenies  = "deny_on_first_deny"
	firstPermits = "permit_on_first_permit"
)

// batch is what a batch's body has beside the entities, which are the defaults of its items.
type batch struct {
	Tuple
	// several says that evaluations has items; items are most of them at most.
	several bool
	items   []Tuple
	most    int
	// semantic is options.evaluations_semantic.
	semantic string
}

// member reads a member other than an entity.
func (b *batch) member(r *reader, name string) bool {
	switch name {
	case "evaluations":
		b.readItems(r)
	case "options":
		r.object("options", func(name string) bool { return name == "evaluations_semantic" && b.readSemantic(r) })
	default:
		return false
	}
	return true
}

// readItems reads the questions. The problems of one are its own.
func (b *batch) readItems(r *reader) {
	if r.Kind() != '[' {
		b.several = true
		b.problem("evaluations", "must be an array")
		r.Skip()
		return
	}
	for i := range r.Items() {
		b.several = true
		if i >= b.most {
			if i == b.most {
				b.problem("evaluations", fmt.Sprintf("must have at most %d items", b.most))
			}
			r.Skip()
			continue
		}
		b.items = append(b.items, Tuple{})
		r.tuple = &b.items[i]
		if !r.object("", r.entities) && len(r.tuple.Problems) == 0 { // null
			r.tuple.problem("", "must be an object")
		}
	}
	r.tuple = &b.Tuple
}

func (b *batch) readSemantic(r *reader) bool {
	const field, member = "options", "evaluations_semantic"
	switch b.semantic = r.text(field, member); b.semantic {
	case executeAll, firstDenies, firstPermits, "": // the problem of an empty one is known
	default:
		b.problem(field+"."+member, "must be one of "+executeAll+", "+firstDenies+", "+firstPermits)
	}
	return true
}

// inherit takes the defaults over, each as a whole, for what was not sent.
func (t *Tuple) inherit(defaults *Tuple) {
	if t.Subject == nil && !t.reported("subject") {
		t.Subject = defaults.Subject
	}
	if t.Resource == nil && !t.reported("resource") {
		t.Resource = defaults.Resource
	}
	if t.Action == nil && !t.reported("action") {
		t.Action = defaults.Action
	}
	if t.Context == nil && !t.reported("context") {
		t.Context = defaults.Context
	}
}
