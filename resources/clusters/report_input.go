package clusters

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Bounds of a report; those of texts are in characters.
const (
	maxFailure   = 2000
	maxText      = 255
	maxURL       = 2048
	maxResources = 1000
	maxApps      = 200
)

// appStatus is the form of the status of an installed application.
var appStatus = regexp.MustCompile(`^INSTALLED_APP_STATUS_[A-Z_]{1,64}$`)

// report holds the fields that a provisioner reports. A field that is absent stays as it is.
type report struct {
	Status    string                    `json:"status"`
	Endpoint  *string                   `json:"cluster_endpoint"`
	Resources *[]resources.GPUResource  `json:"resources"`
	Apps      *[]resources.InstalledApp `json:"installed_apps"`
	Error     string                    `json:"error"`
	// Extend is in seconds, 0 for none.
	Extend int64 `json:"extend_seconds"`
}

// readReport reads the body of cluster_claim.update; 400 with all problems but those of the claim's kind.
func readReport(r *wire.Request) (report, error) {
	var p wire.Problems
	r.ParseQuery(&p).Done()
	body := r.ParseObject(&p)
	input := report{Status: body.OneOf("status", "", append(statuses(resources.ClusterState.Kubernetes), statuses(resources.ClusterState.GPU)...)...)}
	if endpoint, ok := body.Text("cluster_endpoint"); ok {
		input.Endpoint = &endpoint
		if !validEndpoint(endpoint) {
			body.Add("cluster_endpoint", "must be a URL such as https://10.0.0.1:6443, without user, query and fragment")
		}
	}
	if body.Has("resources") {
		input.Resources = readResources(body)
	}
	if body.Has("installed_apps") {
		input.Apps = readApps(body)
	}
	input.readError(body)
	input.Extend = readBetween(body, "extend_seconds", 0, minLease, maxLease)
	body.Done()
	return input, p.Err()
}

// readError reads the error, sent with the status ERROR or with the cluster's present one.
func (r *report) readError(body *wire.Object) {
	text, ok := body.Text("error")
	failed := r.Status == resources.ClusterError.Kubernetes() || r.Status == resources.ClusterError.GPU()
	switch n := utf8.RuneCountInString(text); {
	case ok && (n == 0 || n > maxFailure):
		body.Add("error", "must have 1 to %d characters", maxFailure)
	case !ok && failed && !body.Has("error"):
		body.Add("error", "is missing; it says why the status is %s", r.Status)
	case ok && r.succeeds():
		body.Add("error", "does not go with the status %s", r.Status)
	}
	r.Error = text
}

// succeeds says whether the report names a state that is a success.
func (r *report) succeeds() bool {
	return slices.ContainsFunc([]resources.ClusterState{resources.ClusterRunning, resources.ClusterDeleted}, func(s resources.ClusterState) bool {
		return r.Status == s.Kubernetes() || r.Status == s.GPU()
	})
}

// fits refuses what clusters of the other kind have; 400 with all problems.
func (r *report) fits(kind string) error {
	var p wire.Problems
	words := resources.ClusterState.Kubernetes
	if kind == kindGPU {
		words = resources.ClusterState.GPU
		if r.Endpoint != nil {
			p.Add("cluster_endpoint", "a GPU cluster has none")
		}
		if r.Apps != nil {
			p.Add("installed_apps", "a GPU cluster has none")
		}
	} else if r.Resources != nil {
		p.Add("resources", "a Kubernetes cluster has none")
	}
	if r.Status != "" && resources.ClusterStateOf(words, r.Status) == "" {
		p.Add("status", "is one of the other kind of cluster; this one is written like %s", words(resources.ClusterRunning))
	}
	return p.Err()
}

// validEndpoint says whether s is an https URL of a host that holds no secret.
func validEndpoint(s string) bool {
	u, err := url.Parse(s)
	return err == nil && utf8.RuneCountInString(s) <= maxURL && u.Scheme == "https" && u.Hostname() != "" && u.User == nil &&
		u.RawQuery == "" && !u.ForceQuery && u.Fragment == "" && resources.Showable(s)
}

// readResources reads the parts of a GPU cluster.
func readResources(body *wire.Object) *[]resources.GPUResource {
	items, more, _ := body.Objects("resources", maxResources)
	if more {
		body.Add("resources", "must have at most %d items", maxResources)
	}
	out := make([]resources.GPUResource, len(items))
	for i, item := range items {
		one := resources.GPUResource{
			ExternalID: item.Name("external_id", maxText), Name: item.Name("name", maxText), Type: item.Name("resource_type", maxText),
			Status: item.Name("status", maxText),
		}
		if one.CreatedAt, _ = item.Time("created_at"); !item.Has("created_at") {
			item.Add("created_at", "is missing")
		}
		var sent bool
		if one.PrimaryIP, sent = item.Text("primary_ip"); sent && one.PrimaryIP != "" {
			if _, err := netip.ParseAddr(one.PrimaryIP); err != nil {
				item.Add("primary_ip", "must be an IP address")
			}
		}
		item.Done()
		out[i] = one
	}
	return &out
}

// readApps reads the applications in a Kubernetes cluster. Their cluster_id is filled in.
func readApps(body *wire.Object) *[]resources.InstalledApp {
	items, more, _ := body.Objects("installed_apps", maxApps)
	if more {
		body.Add("installed_apps", "must have at most %d items", maxApps)
	}
	out := make([]resources.InstalledApp, len(items))
	for i, item := range items {
		base, ok := item.Object("base")
		if !ok && !item.Has("base") {
			item.Add("base", "is missing")
			base = nil
		}
		one := resources.InstalledApp{Status: item.Required("status")}
		if one.Status != "" && !appStatus.MatchString(one.Status) {
			item.Add("status", "must begin with INSTALLED_APP_STATUS_ and go on in A to Z and _")
		}
		if base != nil {
			one.Base = readAppBase(base)
		}
		item.Done()
		out[i] = one
	}
	return &out
}

// readAppBase reads the app that a report says is installed.
func readAppBase(base *wire.Object) (out resources.InstalledAppBase) {
	out.AppID = base.Name("app_id", maxText)
	if app, ok := base.Object("marketplace_app"); ok {
		out.MarketplaceApp = resources.MarketplaceApp{
			AppName: app.Name("app_name", maxText), DisplayName: readText(app, "display_name"), Description: readText(app, "description"),
			IconURL: readText(app, "icon_url"), DocumentationURL: readText(app, "documentation_url"),
		}
		app.Done()
	} else if !base.Has("marketplace_app") {
		base.Add("marketplace_app", "is missing")
	}
	base.Done()
	return out
}

// readText reads an optional text.
func readText(body *wire.Object, field string) string {
	text, _ := body.Text(field)
	if utf8.RuneCountInString(text) > maxURL {
		body.Add(field, "must have at most %d characters", maxURL)
	}
	return text
}
