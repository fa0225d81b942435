package console

import (
	"cmp"
	"net/http"
	"slices"
)

// whoPages returns the handlers of the searches, by pattern.
func whoPages() map[string]func(*page) error {
	return map[string]func(*page) error{"GET /who": showWho, "GET /who.csv": whoCSV}
}

// The kinds of searches.
const (
	findPeople  = "people"
	findActions = "actions"
	findPlaces  = "places"
	findMatrix  = "matrix"
)

// perPage is the number of results on a page.
const perPage = 50

// whoView is the data of the searches.
type whoView struct {
	askForm
	Find string
	// Kind is the type of the places in a search for places.
	Kind string
	// Found holds the results. It is nil if a field is missing or the API refuses the search.
	Found *searched
	// First is true for the first page.
	First  bool
	Matrix *matrix
	Me     string
}

// placeKind is a type of places with its label and its path segment in a project.
type placeKind struct{ Type, Word, Segment string }

// Kinds returns the types of places that a search can find.
func (whoView) Kinds() []placeKind {
	return []placeKind{
		{"project", "Projects", ""},
		{"account", "The whole account", ""},
		{"security_group", "Security groups", "security-groups"},
		{"kubernetes_cluster", "Kubernetes clusters", "kubernetes"},
		{"gpu_cluster", "GPU clusters", "gpu-clusters"},
	}
}

func (v whoView) kind() placeKind {
	for _, one := range v.Kinds() {
		if one.Type == v.Kind {
			return one
		}
	}
	return placeKind{}
}

// whoTab is a search with a link that keeps the fields.
type whoTab struct {
	Name, Link string
	Here       bool
}

// Tabs returns the searches.
func (v whoView) Tabs() (out []whoTab) {
	for _, one := range []struct{ find, name string }{
		{findPeople, "Who may do this?"}, {findActions, "What may they do?"}, {findPlaces, "Where may they do it?"}, {findMatrix, "People × actions"},
	} {
		out = append(out, whoTab{one.name, v.Link("/who", "find", one.find), one.find == v.Find})
	}
	return out
}

// CSV returns the address of the results as a CSV file.
func (v whoView) CSV() string { return v.Link("/who.csv", "find", v.Find, "kind", v.Kind) }

// Next returns the address of the next page, or "" after the last one.
func (v whoView) Next() string {
	if v.Found == nil || v.Found.Page.Next == "" {
		return ""
	}
	return v.Link("/who", "find", v.Find, "kind", v.Kind, "page_token", v.Found.Page.Next)
}

// Back returns the address of the first page.
func (v whoView) Back() string { return v.Link("/who", "find", v.Find, "kind", v.Kind) }

// Asked returns the question about a result.
func (v whoView) Asked(r result) question {
	q := v.question
	switch v.Find {
	case findPeople:
		q.User = r.ID
	case findActions:
		q.Action = r.Name
	case findPlaces:
		q.Project, q.Resource = r.Properties.ProjectID, ""
		switch kind := v.kind(); kind.Type {
		case "project":
			q.Project = r.ID
		case "account":
		default:
			q.Resource = kind.Segment + "/" + r.ID
		}
	}
	return q
}

// Missing reports whether a field that the search needs is empty.
func (v whoView) Missing() bool {
	return v.User == "" && (v.Find == findActions || v.Find == findPlaces) || v.Action == "" && (v.Find == findPeople || v.Find == findPlaces)
}

// Denied reports whether the API refuses to show the rights of other people.
func (v whoView) Denied() bool { return v.Problem != nil && v.Problem.Status == http.StatusForbidden }

// readWho reads the kind of the search and its fields.
func (p *page) readWho() (*whoView, error) {
	v := &whoView{askForm: askForm{question: p.question()}, Find: p.field("find"), Kind: p.field("kind"), First: p.field("page_token") == "", Me: p.session.UserID}
	if !slices.Contains([]string{findActions, findPlaces, findMatrix}, v.Find) {
		v.Find = findPeople
	}
	switch {
	case v.Find != findPlaces:
		v.Kind = ""
	case v.kind() == placeKind{}:
		v.Kind = "project"
	}
	if v.Find == findActions {
		v.User = cmp.Or(v.User, v.Me)
	}
	var err error
	v.Choices, err = p.choicesFor(v.User)
	return v, err
}

// tupleFor returns the search in AuthZEN's form, and its kind.
func (p *page) tupleFor(v *whoView) (kind string, t tuple) {
	t = p.tupleOf(v.question)
	switch v.Find {
	case findPeople:
		t.Subject.ID = ""
		return "subject", t
	case findActions:
		t.Action = nil
		return "action", t
	}
	t.Resource = &entity{Type: v.Kind, Properties: t.Resource.Properties}
	if v.Project != "" && v.Kind != "account" {
		t.Resource.Properties["project_id"] = v.Project
	}
	return "resource", t
}

// nameFound reads the names of the results.
func (p *page) nameFound(v *whoView) error {
	var m mentioned
	for _, one := range v.Found.Results {
		switch q := v.Asked(one); v.Find {
		case findPeople:
			if v.Choices.Person(q.User).Email == "" {
				m.users = append(m.users, q.User)
			}
		case findPlaces:
			if !v.Choices.Lists(q.Project) {
				m.projects = append(m.projects, q.Project)
			}
		}
	}
	all, err := p.names(m)
	for _, one := range all.users {
		v.Choices.People = append(v.Choices.People, one)
	}
	for _, one := range all.projects {
		v.Choices.Projects = append(v.Choices.Projects, project{one.ID, one.Name})
	}
	return err
}

// showWho shows a search with its results, or the matrix.
func showWho(p *page) error {
	v, err := p.readWho()
	if err != nil {
		return err
	}
	switch {
	case v.Find == findMatrix:
		v.Matrix, err = p.matrix(v)
	case v.Missing():
	default:
		kind, t := p.tupleFor(v)
		var answer searched
		if answer, err = p.search(kind, t, perPage, p.field("page_token")); err == nil {
			v.Found = &answer
			err = p.nameFound(v)
		}
	}
	status := http.StatusOK
	if refused := refusalOf(err); refused != nil {
		v.Problem, status = refused, refused.Status
	} else if err != nil {
		return err
	}
	return p.show(status, "who", "Who can", "/who", v)
}
