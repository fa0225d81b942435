package resources

import "slices"

// App is an app of the policy tree: rules that decide about resources of their own types.
type App struct {
	Name string
	// Types are the types of resources that it decides about, in order.
	Types []string
	// Subjects, Resources and Actions are the candidates of a search for those the app allows, each in order. nil means
	// that the app can't be searched for it.
	Subjects, Resources []Entity
	Actions             []string
}

// Entity is a subject or a resource of an app.
type Entity struct{ Type, ID string }

// NativeType says whether resources of the type are the platform's own, which no app may decide about.
func NativeType(resourceType string) bool {
	return slices.Contains([]string{
		"account", "project", "path", "route", "security_group", "kubernetes_cluster", "gpu_cluster", "mcp_server", "tool", "prompt", "resource",
	}, resourceType)
}
