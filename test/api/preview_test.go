package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/tier"
)

type previewAnswer struct {
	Gains, Loses    []previewRow
	People          int
	Complete        bool
	AccountRevision int64 `json:"account_revision"`
}

type previewRow struct {
	User, Action string
	Place        struct {
		Project  string `json:"project_id"`
		Resource string `json:"resource_id"`
	}
}

// TestPreviewIsTheDifferenceOfSearches guarantees that a preview equals the difference of action searches before and after
// the changes, in random accounts and for random changes of all kinds. The preview changes nothing.
func TestPreviewIsTheDifferenceOfSearches(t *testing.T) {
	t.Parallel()
	dir, worlds := t.TempDir(), make([]*previewWorld, tier.Amount(200, 20))
	for i := range worlds {
		worlds[i] = newPreviewWorld(uint64(i))
	}
	for several := range slices.Chunk(worlds, 10) { // a longer transaction would lose against the writes of other tests
		harness.SeedRecords(t, dir, several[0].collections, func(ctx context.Context, tx store.Tx) (err error) {
			for _, w := range several {
				err = errors.Join(err, w.seed(ctx, tx))
			}
			return err
		})
	}
	g := harness.StartIn(t, dir)
	checker, changes, rows := g.ServiceToken(t, "authz:check"), make([][]change, len(worlds)), make([]int, len(worlds))
	t.Run("worlds", func(t *testing.T) {
		for i, w := range worlds {
			w.Gateway, w.token, w.checker = g, g.UserToken(t, w.admin), checker
			t.Run(w.account, func(t *testing.T) {
				t.Parallel()
				changes[i], rows[i] = w.previewAndMake(t)
			})
		}
	})
	kinds, all := map[string]int{}, 0
	for i := range worlds {
		for _, c := range changes[i] {
			kinds[c.text("kind")]++
		}
		all += rows[i]
	}
	t.Log(kinds, all, "rows")
	for _, kind := range []string{"assign", "revoke", "role_put", "role_delete", "group_add", "group_remove", "user_status"} {
		if kinds[kind] == 0 {
			t.Errorf("no world had a %s", kind)
		}
	}
	if all < 3*len(worlds) {
		t.Errorf("only %d differences in %d worlds", all, len(worlds))
	}
}

// previewAndMake previews changes, makes them and holds the preview against what they did. It returns the changes and the
// number of the preview's rows.
func (w *previewWorld) previewAndMake(t *testing.T) (changes []change, rows int) {
	t.Helper()
	changes, got := w.preview(t)
	places := w.places()
	before, revision := w.allowed(t, places)
	w.make(t, changes)
	after, _ := w.allowed(t, places)
	same(t, fmt.Sprintf("gains by %v", changes), texts(got.Gains), difference(after, before, texts(got.Gains)))
	same(t, fmt.Sprintf("losses by %v", changes), texts(got.Loses), difference(before, after, texts(got.Loses)))
	if !got.Complete || got.AccountRevision != revision {
		t.Errorf("complete %t, revision %d, and %d before the changes", got.Complete, got.AccountRevision, revision)
	}
	return changes, len(got.Gains) + len(got.Loses)
}

var previewProblem = regexp.MustCompile(`^changes\[(\d+)\]`)

// preview draws changes and previews them, without those that can't be made.
func (w *previewWorld) preview(t *testing.T) ([]change, previewAnswer) {
	t.Helper()
	for changes := w.changes(); ; {
		r := w.call(t, "POST", "accounts/"+w.account+"/preview", map[string]any{"changes": changes})
		if r.Status == 200 {
			var out previewAnswer
			must.Do(t, json.Unmarshal(r.Raw, &out))
			return changes, out
		}
		var wrong []int
		for _, text := range harness.At(r.Body, "error", "details").([]any) {
			match := previewProblem.FindStringSubmatch(text.(string))
			if match == nil {
				t.Fatalf("%v: %s", changes, r.Raw)
			}
			i, _ := strconv.Atoi(match[1])
			wrong = append(wrong, i)
		}
		rest := []change(nil)
		for i, c := range changes {
			if !slices.Contains(wrong, i) {
				rest = append(rest, c)
			}
		}
		if changes = rest; len(changes) == 0 {
			changes = w.changes()
		}
	}
}

// places returns all places of the account, by the name that rows have for them.
func (w *previewWorld) places() map[string]thing {
	out := map[string]thing{"": {Type: "account", ID: w.account}}
	for _, project := range w.projects {
		out[project] = thing{Type: "project", ID: project, Properties: map[string]string{"account_id": w.account}}
		for _, resource := range previewResources() {
			kind, id, _ := strings.Cut(resource, "/")
			if kind == "security-groups" {
				kind = "security_group"
			}
			out[project+"/"+resource] = thing{Type: kind, ID: id, Properties: map[string]string{"account_id": w.account, "project_id": project}}
		}
	}
	return out
}

// texts returns rows as the searches' are.
func texts(rows []previewRow) (out []string) {
	for _, r := range rows {
		where := r.Place.Project
		if r.Place.Resource != "" {
			where += "/" + r.Place.Resource
		}
		out = append(out, r.User+" "+r.Action+" "+where)
	}
	return out
}

// difference returns the rows of one search without those of another. A preview looks at a resource only if an assignment
// there changes. So a difference on a resource and on its project counts only if the preview has it.
func difference(rows, compared, previewed []string) (out []string) {
	differ := map[string]bool{}
	for _, row := range rows {
		if !slices.Contains(compared, row) {
			differ[row] = true
		}
	}
	for row := range differ {
		project, _, isResource := strings.Cut(row, "/")
		if !isResource || !differ[project] || slices.Contains(previewed, row) {
			out = append(out, row)
		}
	}
	return out
}

// allowed searches for the actions of everybody at each place.
func (w *previewWorld) allowed(t *testing.T, places map[string]thing) (rows []string, revision int64) {
	t.Helper()
	for _, user := range append([]string{w.admin}, w.users...) {
		for name, where := range places {
			r := post(t, w.Gateway, "search/action", w.checker, searchBody{Subject: &thing{Type: "user", ID: user}, Resource: &where, Page: map[string]any{"limit": 1000}})
			var out struct {
				Page struct {
					Next string `json:"next_token"`
				}
				Results []struct{ Name string }
				Context struct {
					Revision int64 `json:"account_revision"`
				}
			}
			if err := json.Unmarshal(r.Raw, &out); err != nil || r.Status != 200 || out.Page.Next != "" {
				t.Fatalf("%d %s, %v", r.Status, r.Raw, err)
			}
			revision = out.Context.Revision
			for _, result := range out.Results {
				rows = append(rows, user+" "+result.Name+" "+name)
			}
		}
	}
	return rows, revision
}
