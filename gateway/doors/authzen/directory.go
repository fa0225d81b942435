package authzen

import (
	"context"

	"github.com/portcullis-authz/portcullis/gateway/verdict"
	"github.com/portcullis-authz/portcullis/resources"
)

// The native types of resources that are stored, beside account and project.
const (
	TypeSecurityGroup     = "security_group"
	TypeKubernetesCluster = "kubernetes_cluster"
	TypeGPUCluster        = "gpu_cluster"
)

// Directory is the store as a search sees it.
type Directory interface {
	// Look calls fn with a snapshot that has every change that was answered before. fn may be called
	// more than once: it only sets variables, anew in each call. The error is that of fn, or of
	// KindUnavailable.
	Look(ctx context.Context, account string, fn func(Snapshot) error) error
}

// Snapshot finds candidates of one account, all at one revision. Some of them may not do what is asked
// about, and none that a role allows it is missing.
type Snapshot interface {
	// Facts are those at the revision of the snapshot.
	verdict.Facts
	// Holders returns users who hold a role that grants the action where it covers the target: the
	// first of them by id, after that one.
	Holders(ctx context.Context, of Grant, at resources.Target, after string, limit int) ([]string, error)
	// Stored returns resources of a type that are stored where the subject holds a role that grants
	// the action: the first of them by project and id, after that one; of one project where it is
	// named.
	Stored(ctx context.Context, of Grant, subject, kind, project string, after Place, limit int) ([]Place, error)
}

// Grant is an action with the system roles that grant it. The account's own roles are the snapshot's to
// find.
type Grant struct {
	Action      resources.Action
	SystemRoles []string
}

// Place names a candidate: a user or an action by ID alone, a resource by its project, too. A project has
// its own id twice.
type Place struct {
	ProjectID string `json:"p,omitempty"`
	ID        string `json:"i"`
}
