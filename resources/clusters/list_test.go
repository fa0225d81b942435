package clusters_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/areatest"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/test/must"
)

// several makes clusters n0, n1, … in that order, a millisecond apart.
func (w *clustersWorld) several(k sort, s site, n int) (ids []string) {
	w.T.Helper()
	for i := range n {
		ids = append(ids, w.made(k, s, fmt.Sprintf("n%d", i)))
		w.Clock.Add(1)
	}
	return ids
}

// TestEmptyListHasTheSpecifiedForm: only gpu_cluster.list has a message.
func TestEmptyListHasTheSpecifiedForm(t *testing.T) {
	w := newWorld(t)
	for route, want := range map[string]string{
		"kubernetes_cluster.list": `{"clusters":[],"total_count":0,"count":0,"next_page_token":""}`,
		"gpu_cluster.list":        `{"clusters":[],"total_count":0,"count":0,"next_page_token":"","message":"The GPU clusters of the project, newest first."}`,
	} {
		if got := w.call(route, home, "", ""); got.Status != 200 || got.Text != want {
			t.Errorf("%s: %d %s", route, got.Status, got.Text)
		}
	}
}

// TestClustersAreListedNewestFirst, page by page, each once, as they were made.
func TestClustersAreListedNewestFirst(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		w.several(k, home, 5)
		w.several(k, site{acctA, two}, 2)
		all := w.call(k.list, home, "", "")
		if want := []string{"n4", "n3", "n2", "n1", "n0"}; !slices.Equal(namesOf(all), want) || all.Int("count") != 5 || all.At("next_page_token") != "" {
			w.T.Errorf("%s", all.Text)
		}
		var names []string
		page := w.call(k.list, home, "?page_size=2", "")
		for _, count := range []int{2, 2, 1} {
			names = append(names, namesOf(page)...)
			if page.Int("count") != count || page.Int("total_count") != 5 || (page.Str("next_page_token") == "") != (count == 1) {
				w.T.Fatalf("%d %s", page.Status, page.Text)
			}
			page = w.next(k, home, "page_size=2", page)
		}
		if !slices.Equal(names, namesOf(all)) {
			w.T.Errorf("%v", names)
		}
		if got := w.call(k.get, home, w.made(k, home, "fresh"), ""); !strings.Contains(w.call(k.list, home, "?page_size=1", "").Text, strings.TrimSuffix(strings.TrimPrefix(got.Text, `{"cluster":`), "}")) {
			w.T.Error("a listed cluster is another one than the read one")
		}
	})
}

// TestOneMomentsClustersAreListedOnce: the order is whole also where the times are equal.
func TestOneMomentsClustersAreListedOnce(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		var want, got []string
		for i := range 7 {
			want = append(want, fmt.Sprintf("n%d", i))
			w.made(k, home, want[i])
		}
		page := w.call(k.list, home, "?page_size=3", "")
		for range 3 {
			got = append(got, namesOf(page)...)
			page = w.next(k, home, "page_size=3", page)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			w.T.Errorf("%v", got)
		}
	})
}

// TestListingGoesOnWhereItWas: what is made or deleted meanwhile shifts nothing.
func TestListingGoesOnWhereItWas(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		ids := w.several(k, home, 4)
		first := w.call(k.list, home, "?page_size=2", "")
		w.made(k, home, "later")
		w.set(k, ids[2], resources.ClusterDeleted) // the last one of the first page
		if rest := w.next(k, home, "page_size=5", first); !slices.Equal(namesOf(rest), []string{"n1", "n0"}) {
			w.T.Errorf("%s", rest.Text)
		}
	})
}

// TestClustersAreListedByStatus: each state in the words of its kind; deleted ones are
// listed by that status alone.
func TestClustersAreListedByStatus(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		states := resources.ClusterStates()
		for i, id := range w.several(k, home, 2*len(states)) {
			w.set(k, id, states[i/2])
		}
		for i, state := range states {
			query := "page_size=1&status=" + k.state(state)
			first := w.call(k.list, home, "?"+query, "")
			second := w.next(k, home, query, first)
			if got, want := append(namesOf(first), namesOf(second)...), []string{fmt.Sprintf("n%d", 2*i+1), fmt.Sprintf("n%d", 2*i)}; !slices.Equal(got, want) ||
				first.Int("total_count") != 2 || second.At("next_page_token") != "" {
				w.T.Errorf("%s: %s, %s", query, first.Text, second.Text)
			}
		}
		if got := w.call(k.list, home, "", ""); got.Int("total_count") != 2*len(states)-2 || slices.Contains(namesOf(got), "n11") {
			w.T.Errorf("without a status: %s", got.Text)
		}
	})
	w := newWorld(t)
	w.made(sorts()[0], home, "n")
	w.Expect(w.call("kubernetes_cluster.list", home, "?status="+resources.KubernetesUnspecified, ""), 200, `"total_count":0`)
}

// TestListIsAskedStrictly: what is not known, sent twice or out of bounds is 400.
func TestListIsAskedStrictly(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		pending := k.state(resources.ClusterPending)
		w.Expect(w.call(k.list, home, "?page_size=1&page_token=", ""), 200)
		w.Expect(w.call(k.list, home, "?page_size=100&status="+pending, ""), 200)
		for query, want := range map[string]string{
			"page_size=0": "page_size: ", "page_size=101": "page_size: ", "page_size=": "page_size: ", "page_size=1.0": "page_size: ",
			"page_size=01": "page_size: ", "page_size=1&page_size=1": "page_size: ",
			"status=": "status: ", "status=x": "status: ", "status=PENDING": "status: ", "status=" + pending + "x": "status: ",
			"status=" + pending + "&status=" + pending: "status: ", "status[$ne]=" + pending: "status[$ne]: ", "Status=" + pending: "Status: ",
			"page_token=AAAA": "page_token: ", "page_token=%00": "page_token: ", "page=2": "page: ", "limit=1": "limit: ", "%zz": "query: ",
		} {
			got := w.call(k.list, home, "?"+query, "")
			if d := details(got); got.Status != 400 || len(d) == 0 || !strings.HasPrefix(d[0], want) {
				w.T.Errorf("%s: %d %s", query, got.Status, got.Text)
			}
		}
		if k.name == "gpu" {
			w.Expect(w.call(k.list, home, "?status=CLUSTER_STATUS_PENDING", ""), 400)
			w.Expect(w.call(k.list, home, "?status=unspecified", ""), 400)
		}
		got := w.call(k.list, home, "?page_size=0&status=x&page_token=x&y=1", "")
		if len(details(got)) != 4 {
			w.T.Errorf("not all at once: %s", got.Text)
		}
	})
}

// TestPageTokenIsOfOneList: another kind's, project's, account's or status' token is 400,
// and so is one that is not ours.
func TestPageTokenIsOfOneList(t *testing.T) {
	each(t, func(w *clustersWorld, k sort) {
		status := "status=" + k.state(resources.ClusterPending)
		for _, s := range []site{home, {acctA, two}, {acctB, one}} {
			w.several(k, s, 2)
		}
		plain := w.call(k.list, home, "?page_size=1", "")
		filtered := w.call(k.list, home, "?page_size=1&"+status, "")
		w.Expect(w.next(k, home, "page_size=100", plain), 200)
		w.Expect(w.next(k, home, status, filtered), 200)
		other := sorts()[0]
		if k.name == other.name {
			other = sorts()[1]
		}
		for name, got := range map[string]areatest.Answer{
			"project": w.next(k, site{acctA, two}, "", plain), "account": w.next(k, site{acctB, one}, "", plain),
			"with a status": w.next(k, home, status, plain), "without the status": w.next(k, home, "", filtered),
			"with another status": w.next(k, home, "status="+k.state(resources.ClusterError), filtered), "of the other kind": w.next(other, home, "", plain),
		} {
			if got.Status != 400 || !slices.Equal(details(got), []string{"page_token: is not a token of this list; begin again without it"}) {
				w.T.Errorf("%s: %d %s", name, got.Status, got.Text)
			}
		}
		foreign := must.Get(wire.NewPageTokens([][]byte{[]byte("another key, thirty-two bytes ..")}))(w.T)
		odd := foreign.Seal([]byte(`{"v":[{"n":1}],"k":"x"}`), k.list+"|"+home.account+"|"+home.project+"|")
		w.Expect(w.call(k.list, home, "?page_token="+url.QueryEscape(odd), ""), 400)
	})
}
