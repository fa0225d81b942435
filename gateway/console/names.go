package console

import (
	"cmp"
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
type names struct{ users, roles, groups, agents, projects map[string]person }

// Person returns a user. It has only the id if the name is not known.
func (n names) Person(id string) person {
	if one, ok := n.users[id]; ok {
		return one
	}
	return person{ID: id}
}

// named returns the name of an id, or the id.
func named(all map[string]person, id string) string { return cmp.Or(all[id].Name, id) }

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
	names map[string]person
	ids   []string
	// list is the API's list, and size its parameter for the size of a page. lists limits the pages that are read.
	list, size string
	lists      int
	// read reads one name by its id. A nil read means that the kind has lists only.
	read func(id string) (person, error)
}

// missing returns the ids without a name, without duplicates.
func (k naming) missing() (out []string) {
	for _, id := range k.ids {
		if id != "" && !slices.Contains(out, id) && k.names[id].ID == "" {
			out = append(out, id)
		}
	}
	return out
}

// keep stores names.
func (k naming) keep(some []person) {
	for _, one := range some {
		k.names[one.ID] = one
	}
}

// names reads the names of the ids on a page. It skips names that the user may not read.
func (p *page) names(m mentioned) (names, error) {
	out := names{map[string]person{}, map[string]person{}, map[string]person{}, map[string]person{}, map[string]person{}}
	for _, kind := range []naming{
		{out.users, m.users, "users", "page_size", 1, p.userNamed},
		{out.roles, m.roles, "roles", "pageSize", 1, p.roleNamed},
		{out.groups, m.groups, "groups", "page_size", 1, p.groupNamed},
		{out.agents, m.agents, "agents", "page_size", 1, p.agentNamed},
		{out.projects, m.projects, "projects", "page_size", mostLists, nil},
	} {
		missing := kind.missing()
		if len(missing) > fewNames || kind.read == nil && len(missing) > 0 {
			if err := p.listNames(kind); err != nil {
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
		kind.keep(some)
	}
	return out, nil
}

// listNames reads pages of a list until no name is missing. It reads no name if the API refuses.
func (p *page) listNames(k naming) error {
	for next, lists := "", 0; lists < k.lists; lists++ {
		var answer struct {
			Users    []person `json:"users"`
			Roles    []person `json:"data"`
			Groups   []person `json:"groups"`
			Agents   []person `json:"agents"`
			Projects []person `json:"projects"`
			Next     string   `json:"next_page_token"`
		}
		err := p.api.get(p.r.Context(), p.account(k.list), given(k.size, listedNames, "page_token", next), &answer)
		if err != nil && refusalOf(err) == nil {
			return err
		}
		k.keep(slices.Concat(answer.Users, answer.Roles, answer.Groups, answer.Agents, answer.Projects))
		if next = answer.Next; next == "" || len(k.missing()) == 0 {
			break
		}
	}
	return nil
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
