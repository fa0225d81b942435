package console

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// clusterKinds holds the actions that delete clusters, by the last segment of the list's path.
var clusterKinds = map[string]string{"kubernetes": "project:kubernetes_cluster:delete", "gpu-clusters": "project:gpu_cluster:delete"}

// cluster is a Kubernetes or a GPU cluster in a list.
type cluster struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Status    string         `json:"status"`
	UpdatedAt resources.Time `json:"updated_at"`
	// Base holds the members above for a Kubernetes cluster.
	Base *struct {
		ID        string         `json:"cluster_id"`
		Name      string         `json:"name"`
		Status    string         `json:"status"`
		UpdatedAt resources.Time `json:"updated_at"`
	} `json:"base"`
}

// flat copies the members of Base into the cluster.
func (c cluster) flat() cluster {
	if c.Base != nil {
		return cluster{ID: c.Base.ID, Name: c.Base.Name, Status: c.Base.Status, UpdatedAt: c.Base.UpdatedAt}
	}
	return c
}

// projectView is the data of a list in a project.
type projectView struct {
	Project project
	// Kind is the kind of the clusters, or "" for security groups.
	Kind     string
	Groups   []resources.SecurityGroup
	Clusters []cluster
	Next     string
	Total    int
	Problem  *apiError
	// MayChange is true if the user may rename the project, MayDelete if they may delete it.
	MayChange, MayDelete bool
	// MayDeleteRow is true if the user may delete clusters of this kind.
	MayDeleteRow bool
	// token is the page token of this page.
	token string
}

// inProject returns an API path in the project that the request's path names.
func (p *page) inProject(segments ...string) string {
	return p.account(append([]string{"projects", p.r.PathValue("project")}, segments...)...)
}

// projectView reads the data that all pages of a project show.
func (p *page) projectView(kind string) (v projectView, err error) {
	v.Kind = kind
	if v.Project, err = p.projectNamed(); err != nil {
		return v, err
	}
	may, err := p.may("", "account:project:update", "account:project:delete")
	v.MayChange, v.MayDelete = may["account:project:update"], may["account:project:delete"]
	return v, err
}

// inside reads a list of a project into out. An error response becomes part of the page.
func (p *page) inside(v *projectView, list string, out any) (status int, err error) {
	query := given("page_size", pageSize, "page_token", p.r.URL.Query().Get("page_token"))
	err = p.api.call(p.r.Context(), http.MethodGet, p.inProject(list)+"?"+query.Encode(), p.inAccount(), nil, out)
	if err == nil {
		return http.StatusOK, nil
	}
	if v.Problem = refusalOf(err); v.Problem == nil {
		return 0, err
	}
	return v.Problem.Status, nil
}

func showSecurityGroups(p *page) error {
	v, err := p.projectView("")
	if err != nil {
		return err
	}
	var answer struct {
		Groups []resources.SecurityGroup `json:"security_groups"`
		Total  int                       `json:"total_count"`
		Next   string                    `json:"next_page_token"`
	}
	status, err := p.inside(&v, "security-groups", &answer)
	if err != nil {
		return err
	}
	v.Groups, v.Total, v.Next = answer.Groups, answer.Total, answer.Next
	return p.show(status, "project", "Project", platformHere, v)
}

func showClusters(p *page) error {
	if _, ok := clusterKinds[p.r.PathValue("kind")]; !ok {
		return errNoPage
	}
	v, err := p.projectView(p.r.PathValue("kind"))
	if err != nil {
		return err
	}
	status, err := p.readClusters(&v)
	if err != nil {
		return err
	}
	return p.show(status, "project", "Project", platformHere, v)
}

// readClusters reads a page of clusters of the view's kind. An error response becomes part of the page.
func (p *page) readClusters(v *projectView) (status int, err error) {
	deletes := clusterKinds[v.Kind]
	may, err := p.may(v.Project.ID, deletes)
	if err != nil {
		return 0, err
	}
	v.MayDeleteRow = may[deletes]
	var answer struct {
		Clusters []cluster `json:"clusters"`
		Total    int       `json:"total_count"`
		Next     string    `json:"next_page_token"`
	}
	if status, err = p.inside(v, v.Kind, &answer); err != nil {
		return 0, err
	}
	for _, one := range answer.Clusters {
		v.Clusters = append(v.Clusters, one.flat())
	}
	v.Total, v.Next, v.token = answer.Total, answer.Next, p.r.URL.Query().Get("page_token")
	return status, nil
}

// clusters returns the current list of clusters to the script.
func clusters(p *page) {
	v := projectView{Kind: p.r.PathValue("kind"), Project: project{ID: p.r.PathValue("project")}}
	if _, ok := clusterKinds[v.Kind]; !ok {
		plain(p.w, http.StatusNotFound, "this kind of cluster does not exist")
		return
	}
	_, err := p.readClusters(&v)
	switch {
	case err != nil:
		unshown(p.w, err)
	case v.Problem != nil:
		unshown(p.w, v.Problem)
	default:
		p.part("project", "clusters", v)
	}
}

// Moving returns the number of clusters whose status a provisioner is about to change.
func (v projectView) Moving() (many int) {
	for _, one := range v.Clusters {
		state := resources.ClusterState(strings.ToUpper(strings.TrimPrefix(one.Status, "CLUSTER_STATUS_")))
		if state.Intent() != "" {
			many++
		}
	}
	return many
}

// Poll returns the address from which the script loads the list.
func (v projectView) Poll() string { return v.paged(linkOf("clusters", v.Project.ID, v.Kind)) }

// Here returns the address of the page.
func (v projectView) Here() string { return v.paged(linkOf("platform", v.Project.ID, v.Kind)) }

// paged adds the page token to an address.
func (v projectView) paged(path string) string {
	if v.token == "" {
		return path
	}
	return path + "?" + given("page_token", v.token).Encode()
}

// deleteCluster deletes a cluster.
func deleteCluster(p *page) (*step, error) {
	kind, id := p.r.PathValue("kind"), p.r.PathValue("id")
	if _, ok := clusterKinds[kind]; !ok {
		return nil, errNoPage
	}
	back := linkOf("platform", p.r.PathValue("project"), kind)
	return &step{
		Title: "Delete a cluster", Question: []string{"Delete the cluster", id}, Button: "Delete", Danger: true,
		Note: "This stops all workloads on it.",
		Back: back, Here: platformHere, then: back, done: "deleted",
		call: call{method: http.MethodDelete, path: p.inProject(kind, id), header: p.inAccount()},
	}, nil
}

// securityGroupView is the data of the page of a security group.
type securityGroupView struct {
	Project   project
	Group     resources.SecurityGroup
	MayDelete bool
}

// securityGroup reads the security group that the request's path names.
func (p *page) securityGroup() (resources.SecurityGroup, error) {
	var answer struct {
		Group resources.SecurityGroup `json:"security_group"`
	}
	err := p.api.call(p.r.Context(), http.MethodGet, p.inProject("security-groups", p.r.PathValue("id")), p.inAccount(), nil, &answer)
	return answer.Group, err
}

func showSecurityGroup(p *page) error {
	var v securityGroupView
	var err error
	if v.Group, err = p.securityGroup(); err != nil {
		return err
	}
	if v.Project, err = p.projectNamed(); err != nil {
		return err
	}
	may, err := p.may(v.Project.ID, "project:security_group:delete")
	if err != nil {
		return err
	}
	v.MayDelete = may["project:security_group:delete"]
	return p.show(http.StatusOK, "securitygroup", "Security group", platformHere, v)
}

// deleteSecurityGroup deletes a security group.
func deleteSecurityGroup(p *page) (*step, error) {
	g, err := p.securityGroup()
	if err != nil {
		return nil, err
	}
	back := linkOf("platform", p.r.PathValue("project"))
	return &step{
		Title: "Delete a security group", Question: []string{"Delete the security group", g.Name}, Button: "Delete", Danger: true,
		Note: "Remove rules of other groups that name it first.",
		Back: linkOf("platform", p.r.PathValue("project"), "security-groups", g.ID), Here: platformHere, then: back, done: "deleted",
		call: call{method: http.MethodDelete, path: p.inProject("security-groups", g.ID), header: p.inAccount()},
	}, nil
}

// ports returns the ports or the ICMP type and code of a rule.
func ports(r resources.SecurityGroupRule) string {
	first, last := r.PortRangeMin, r.PortRangeMax
	if first == nil {
		first, last = r.ICMPType, r.ICMPCode
	}
	switch {
	case first == nil:
		return "all"
	case r.PortRangeMin == nil && last == nil:
		return "type " + strconv.Itoa(*first)
	case r.PortRangeMin == nil:
		return "type " + strconv.Itoa(*first) + ", code " + strconv.Itoa(*last)
	case last == nil || *first == *last:
		return strconv.Itoa(*first)
	}
	return strconv.Itoa(*first) + "–" + strconv.Itoa(*last)
}
