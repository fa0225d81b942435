package console

import (
	"net/url"
	"slices"
	"sync"
)

const (
	// listedNames is the page size of the API's lists.
	listedNames = "100"
	// fewNames is the number of names up to which each is read by its id. More are read from lists first.
	fewNames = 3
	// mostNames limits the names of one kind that a page reads by id, and namesAtOnce the concurrent reads. The page shows
	// the ids of the others.
	mostNames, namesAtOnce = 50, 8
	// mostLists limits the pages of projects that are read. The API has no read of a project by id.
	mostLists = 5
)

// mentioned holds the ids on a page that have names.
type mentioned struct{ users, roles, groups, agents, projects []string }

// addHeld adds the ids in an assignment.
func (m *mentioned) addHeld(h heldRole) {
	m.roles, m.groups, m.projects = append(m.roles, h.RoleID), append(m.groups, h.GroupID), append(m.projects, h.ProjectID)
}

// addHolders adds the ids in assignments and their assignees.
func (m *mentioned) addHolders(all []assignment) {
	for _, one := range all {
		m.addHeld(one.heldRole)
		switch {
		case one.IsGroup():
			m.groups = append(m.groups, one.AssigneeID)
		case one.IsAgent():
			m.agents = append(m.agents, one.AssigneeID)
		default:
			m.users = append(m.users, one.AssigneeID)
		}
	}
}

// names holds the names of people, roles, groups, agents and projects by id. A page shows the id of one without a name.
type names struct {
	users                           map[string]person
	roles, groups, agents, projects map[string]string
}

// Person returns a user. It has only the id if the name is not known.
func (n names) Person(id string) person {
	if one, ok := n.users[id]; ok {
		return one
	}
	return person{ID: id}
}

// named returns the name of an id, or the id.
func named(all map[string]string, id string) string {
	if name := all[id]; name != "" {
		return name
	}
	return id
}

// Role returns the name of a role.
func (n names) Role(id string) string { return named(n.roles, id) }

// Group returns the name of a group.
func (n names) Group(id string) string { return named(n.groups, id) }

// Agent returns the name of an agent.
func (n names) Agent(id string) string { return named(n.agents, id) }

// Project returns the name of a project.
func (n names) Project(id string) string { return named(n.projects, id) }

// naming describes how to read the names of one kind.
type naming struct {
	ids []string
	// isNamed reports whether the name of an id is known.
	isNamed func(id string) bool
	// list reads names from lists. read reads one name by its id, and keep stores it. A nil read means that the kind has
	// lists only.
	list func(n names, missing func() []string) error
	read func(id string) (person, error)
	keep func(person)
}

// missing returns the ids without a name, without duplicates.
func (k naming) missing() (out []string) {
	for _, id := range k.ids {
		if id != "" && !slices.Contains(out, id) && !k.isNamed(id) {
			out = append(out, id)
		}
	}
	return out
}

// namesOf returns a kind that stores only names.
func namesOf(all map[string]string, ids []string) naming {
	return naming{ids: ids, isNamed: func(id string) bool { return all[id] != "" }, keep: func(one person) { all[one.ID] = one.Name }}
}

// names reads the names of the ids on a page. It skips names that the user may not read.
func (p *page) names(m mentioned) (names, error) {
	out := names{users: map[string]person{}, roles: map[string]string{}, groups: map[string]string{}, agents: map[string]string{}, projects: map[string]string{}}
	users := naming{ids: m.users, isNamed: func(id string) bool { return out.users[id].ID != "" }, keep: func(one person) { out.users[one.ID] = one }}
	users.list, users.read = p.firstUsers, p.userNamed
	roles, groups := namesOf(out.roles, m.roles), namesOf(out.groups, m.groups)
	agents, projects := namesOf(out.agents, m.agents), namesOf(out.projects, m.projects)
	roles.list, roles.read = p.firstRoles, p.roleNamed
	groups.list, groups.read = p.firstGroups, p.groupNamed
	agents.list, agents.read = p.firstAgents, p.agentNamed
	projects.list = p.firstProjects
	for _, kind := range []naming{users, roles, groups, agents, projects} {
		missing := kind.missing()
		if len(missing) > fewNames || kind.read == nil && len(missing) > 0 {
			if err := kind.list(out, kind.missing); err != nil {
				return out, err
			}
			missing = kind.missing()
		}
		if kind.read == nil {
			continue
		}
		some, err := eachOf(missing[:min(len(missing), mostNames)], kind.read)
		if err != nil {
			return out, err
		}
		for _, one := range some {
			kind.keep(one)
		}
	}
	return out, nil
}

// eachOf reads ids concurrently. It skips an id that the API refuses.
func eachOf(ids []string, read func(id string) (person, error)) (out []person, err error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	turns := make(chan struct{}, namesAtOnce)
	for _, id := range ids {
		turns <- struct{}{}
		all.Go(func() {
			one, failed := read(id)
			<-turns
			mu.Lock()
			defer mu.Unlock()
			switch {
			case failed == nil:
				out = append(out, one)
			case refusalOf(failed) == nil:
				err = failed
			}
		})
	}
	all.Wait()
	return out, err
}

// firstOf reads the first page of a list. It returns an empty list if the API refuses.
func (p *page) firstOf(list string, query url.Values, out any) error {
	err := p.api.get(p.r.Context(), p.account(list), query, out)
	if err != nil && refusalOf(err) == nil {
		return err
	}
	return nil
}

func (p *page) firstUsers(n names, _ func() []string) error {
	var answer struct {
		Users []person `json:"users"`
	}
	err := p.firstOf("users", given("page_size", listedNames), &answer)
	for _, one := range answer.Users {
		n.users[one.ID] = one
	}
	return err
}

func (p *page) firstRoles(n names, _ func() []string) error {
	var answer struct {
		Data []project `json:"data"`
	}
	err := p.firstOf("roles", given("pageSize", listedNames), &answer)
	addNames(n.roles, answer.Data)
	return err
}

func (p *page) firstGroups(n names, _ func() []string) error {
	var answer struct {
		Groups []project `json:"groups"`
	}
	err := p.firstOf("groups", given("page_size", listedNames), &answer)
	addNames(n.groups, answer.Groups)
	return err
}

func (p *page) firstAgents(n names, _ func() []string) error {
	var answer struct {
		Agents []project `json:"agents"`
	}
	err := p.firstOf("agents", given("page_size", listedNames), &answer)
	addNames(n.agents, answer.Agents)
	return err
}

// firstProjects reads pages of projects until no name is missing.
func (p *page) firstProjects(n names, missing func() []string) error {
	for next, lists := "", 0; lists < mostLists; lists++ {
		var answer struct {
			Projects []project `json:"projects"`
			Next     string    `json:"next_page_token"`
		}
		if err := p.firstOf("projects", given("page_size", listedNames, "page_token", next), &answer); err != nil {
			return err
		}
		addNames(n.projects, answer.Projects)
		if next = answer.Next; next == "" || len(missing()) == 0 {
			break
		}
	}
	return nil
}

func addNames(all map[string]string, some []project) {
	for _, one := range some {
		all[one.ID] = one.Name
	}
}

// userNamed reads one member.
func (p *page) userNamed(id string) (person, error) {
	if id == p.session.UserID {
		return person{ID: id, Name: p.me.Name, Email: p.me.Email}, nil
	}
	one, err := p.member(id)
	return one.person, err
}

// roleNamed reads one role, groupNamed one group, agentNamed one agent.
func (p *page) roleNamed(id string) (person, error) {
	one, err := p.wholeRole(id)
	return person{ID: id, Name: one.Name}, err
}

func (p *page) groupNamed(id string) (person, error) {
	one, err := p.group(id)
	return person{ID: id, Name: one.Name}, err
}

func (p *page) agentNamed(id string) (person, error) {
	one, err := p.agent(id)
	return person{ID: id, Name: one.Name}, err
}

// projectNamed returns the project in the path. Its name is the id if the user may not list it.
func (p *page) projectNamed() (project, error) {
	id := p.r.PathValue("project")
	all, err := p.names(mentioned{projects: []string{id}})
	return project{ID: id, Name: all.Project(id)}, err
}
