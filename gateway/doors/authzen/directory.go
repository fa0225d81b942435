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
	// Look calls fn with a snapshot. The snapshot has every change answered before the call. fn may be called more than
	// once: it only sets variables, anew in each call. The error is fn's, or of KindUnavailable.
	Look(ctx context.Context, account string, fn func(Snapshot) error) error
}

// Snapshot finds candidates of one account, all at one revision. Some of them may not do what is asked
// about, and none that a role allows it is missing.
type Snapshot interface {
	// Facts are those at the revision of the snapshot.
	verdict.FactSource
	// Holders returns users whose roles grant the action on the target. They are the first by id after the given one.
	Holders(ctx context.Context, grant Grant, target resources.Target, after string, limit int) ([]string, error)
	// Stored returns resources of a type from the projects of the subject's roles with the action. They are the first
	// by project and id after the given one. A named project limits them to it.
	Stored(ctx context.Context, grant Grant, subject, kind, project string, after Place, limit int) ([]Place, error)
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
