package clusters

import (
	"context"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/idempotency"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// area names these clusters among what may occupy a project.
const area = "clusters"

// SecurityGroups is what this area asks of the firewall.
type SecurityGroups interface {
	// Missing gives those of the ids that are no security group of the project, in this
	// transaction: absent and another project's are the same. An id stands for itself
	// however often it is among ids.
	Missing(ctx context.Context, tx store.Tx, account, project string, ids []string) ([]string, error)
}

// Config is what the area works with; every field is needed.
type Config struct {
	Store          store.Store
	Collections    records.Collections
	SecurityGroups SecurityGroups
	// CheckCaller refuses, in the transaction of a change in the account, a caller whose
	// credential is not valid any more.
	CheckCaller func(ctx context.Context, tx store.Tx, account string, caller resources.Principal) error
	Tokens      wire.PageTokens
	// Idempotency runs what creates.
	Idempotency *idempotency.Keeper
	IDs         resources.IDs
	Now         func() time.Time
}

// Service holds the handlers of clusters.
type Service struct {
	Config
	c          records.Collections
	kubernetes kind[resources.KubernetesRecord]
	gpu        kind[resources.GPURecord]
}

// New makes the area's handlers.
func New(cfg Config) *Service {
	s := &Service{Config: cfg, c: cfg.Collections}
	s.kubernetes, s.gpu = s.kubernetesKind(), s.gpuKind()
	return s
}

// Routes are the area's handlers.
func (s *Service) Routes() wire.Routes {
	return wire.Named(area, wire.Routes{
		"kubernetes_cluster.create": s.Idempotency.Create("kubernetes_cluster.create", s.createKubernetes),
		"kubernetes_cluster.list":   s.kubernetes.list,
		"gpu_cluster.create":        s.Idempotency.Create("gpu_cluster.create", s.createGPU),
		"gpu_cluster.list":          s.gpu.list,
		"kubernetes_cluster.get":    s.kubernetes.get,
		"kubernetes_cluster.delete": s.kubernetes.remove,
		"gpu_cluster.get":           s.gpu.get,
		"gpu_cluster.delete":        s.gpu.remove,
	})
}

// now is the clock in the domain's form.
func (s *Service) now() resources.Time { return resources.At(s.Now()) }

// checkCaller begins every change: it may have waited in line since its caller was
// authenticated.
func (s *Service) checkCaller(ctx context.Context, tx store.Tx, r *wire.Request) error {
	return s.CheckCaller(ctx, tx, r.Params["accountId"], r.Principal)
}

// place is where clusters are: a project of an account.
type place struct{ account, project string }

func placeOf(r *wire.Request) place {
	return place{account: r.Params["accountId"], project: r.Params["projectId"]}
}

// clusterBody is what one cluster is answered in.
type clusterBody struct {
	Cluster any `json:"cluster"`
}
