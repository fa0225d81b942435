package clusters

import (
	"context"
	"strings"

	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// clusterList is the response of kubernetes_cluster.list and gpu_cluster.list.
type clusterList struct {
	Clusters []any `json:"clusters"`
	// TotalCount counts the clusters of all pages.
	TotalCount int `json:"total_count"`
	// Count counts the clusters of this page.
	Count         int    `json:"count"`
	NextPageToken string `json:"next_page_token"`
	Message       string `json:"message,omitempty"`
}

// list answers kubernetes_cluster.list (E17) and gpu_cluster.list (E19), newest first. It lists
// deleted clusters only where the filter is their status.
func (k kind[T]) list(ctx context.Context, r *wire.Request) (wire.Response, error) {
	query, binding, err := k.query(r)
	if err != nil {
		return wire.Response{}, err
	}
	out := clusterList{Message: k.listMessage}
	var recs []store.Record[T]
	var next *store.Cursor
	err = k.s.Store.View(ctx, func(tx store.Tx) (err error) {
		if out.TotalCount, err = k.records.Count(ctx, tx, query); err != nil {
			return err
		}
		recs, next, err = k.records.Page(ctx, tx, query)
		return err
	})
	if err != nil {
		return wire.Response{}, err
	}
	if next != nil {
		out.NextPageToken = k.s.Tokens.Seal(next.Marshal(), binding)
	}
	out.Count, out.Clusters = len(recs), make([]any, len(recs))
	for i, rec := range recs {
		out.Clusters[i] = k.shown(rec.Value)
	}
	return wire.OK(out)
}

// query reads the query of a list; 400 with all problems. The page's token is bound to binding.
func (k kind[T]) query(r *wire.Request) (q store.Query, binding string, err error) {
	var p wire.Problems
	place, asked := placeOf(r), r.ParseQuery(&p)
	q = store.Query{
		Index: records.ByProject, Equal: []store.Value{store.String(place.account), store.String(place.project)},
		Limit: asked.PageSize(),
	}
	status := asked.OneOf("status", "", k.filters...)
	if status != "" {
		q.Index, q.Equal = records.ByStatus, append(q.Equal, store.String(status))
	}
	binding = strings.Join([]string{k.listRoute, place.account, place.project, status}, "|")
	asked.PageToken(k.s.Tokens, binding, q.From)
	asked.Done()
	return q, binding, p.Err()
}
