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

// area names this area in errors and in the occupancy of a project.
const area = "clusters"

// SecurityGroups is the area of security groups, as this area uses it.
type SecurityGroups interface {
	// Missing returns each of the ids that names no security group of the project, once. It
	// reads in the transaction.
	Missing(ctx context.Context, tx store.Tx, account, project string, ids []string) ([]string, error)
}

// Config holds what the handlers work with. Every field is required.
type Config struct {
	Store          store.Store
	Collections    records.Collections
	SecurityGroups SecurityGroups
	// CheckCaller refuses a caller whose credential is not valid any more. It reads in the
	// transaction of a change in the account.
	CheckCaller func(ctx context.Context, tx store.Tx, account string, caller resources.Principal) error
	// Suspended says whether the account is suspended, where the store can tell. It reads in the
	// transaction.
	Suspended func(ctx context.Context, tx store.Tx, account string) (bool, error)
	Tokens    wire.PageTokens
	// Idempotency runs the creating handlers.
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
	kinds      map[string]claimable
	// claims has room for one: claims conflict, and those of a process need not.
	claims chan struct{}
}

// New makes the handlers of the area.
func New(cfg Config) *Service {
	s := &Service{Config: cfg, c: cfg.Collections, claims: make(chan struct{}, 1)}
	s.kubernetes, s.gpu = s.kubernetesKind(), s.gpuKind()
	s.kinds = map[string]claimable{kindKubernetes: s.kubernetes, kindGPU: s.gpu}
	return s
}

// Routes returns the handlers of the area.
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
		"cluster_claim.create":      s.claim,
		"cluster_claim.update":      s.update,
	})
}

// now returns the time of the clock.
func (s *Service) now() resources.Time { return resources.At(s.Now()) }

// checkCaller begins every change, since the transaction may have waited after the authentication
// of its caller.
func (s *Service) checkCaller(ctx context.Context, tx store.Tx, r *wire.Request) error {
	return s.CheckCaller(ctx, tx, r.Params["accountId"], r.Principal)
}

type clusterPlace struct{ account, project string }

// placeOf returns the project in the path.
func placeOf(r *wire.Request) clusterPlace {
	return clusterPlace{account: r.Params["accountId"], project: r.Params["projectId"]}
}

// clusterBody is the response with one cluster.
type clusterBody struct {
	Cluster any `json:"cluster"`
	// Error is what a provisioner last reported, "" for none.
	Error string `json:"error,omitempty"`
}
