package faults_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/tier"
)

// Clients that ask batches of so many questions, each on a connection of its own, for so long.
const (
	batchClients = 80
	batchSize    = 100
	batchesFor   = 10 * time.Second
	otherClients = 24
)

// TestBatchesOfOneTenantLoseNoVerdictOfAnother has one user send batches on 80 connections, too many for the decision
// log. Another tenant's single verdicts are all in the log, also while others are lost.
func TestBatchesOfOneTenantLoseNoVerdictOfAnother(t *testing.T) {
	tier.Check(t)
	teams := harness.StartTeams(t, 2)
	flooder, other := teams[0], teams[1]
	other.Grant(t, "project_reader", other.Bob, other.Project)
	ctx, stop := context.WithTimeout(t.Context(), batchesFor)
	defer stop()
	begun, once := make(chan struct{}), sync.Once{}
	answered := atomic.Int64{}
	var clients sync.WaitGroup
	body, token := batchAboutThemselves(t, flooder), flooder.UserToken(t, flooder.Bob)
	for range batchClients {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			for ctx.Err() == nil {
				if err := postBatch(ctx, client, flooder.URL, token, body); err != nil {
					if ctx.Err() == nil {
						t.Error(err)
					}
					return
				}
				answered.Add(1)
				once.Do(func() { close(begun) })
			}
		})
	}
	select {
	case <-begun:
	case <-ctx.Done():
		t.Fatal("no batch was answered")
	}
	reported, mu := map[string]bool{}, sync.Mutex{}
	for range otherClients {
		clients.Go(func() {
			for ctx.Err() == nil {
				r := other.Ask(t, other.Bob, "project:instance:read", "/projects/"+other.Project+"/instances/i-1")
				if id := r.Header.Get("X-Decision-ID"); r.Status == http.StatusOK {
					mu.Lock()
					reported[id] = true
					mu.Unlock()
				}
			}
		})
	}
	clients.Wait()
	other.Terminate(t)
	other.Ended(t)
	all, missing := 0, len(reported)
	for line := range strings.Lines(harness.Command(t, nil, "decisions", "export", "-n", "0", "--account", other.Account, "--data-dir", other.DataDir).Stdout) {
		var e struct {
			ID string `json:"decision_id"`
		}
		must.Do(t, json.Unmarshal([]byte(line), &e))
		if all++; reported[e.ID] {
			missing--
		}
	}
	o := harness.Command(t, nil, "decisions", "verify", "--data-dir", other.DataDir)
	t.Logf("%d batches of %d; of the other tenant's %d verdicts %d are missing; verify: %s", answered.Load(), batchSize, len(reported), missing, o.Stdout)
	if missing > 0 || len(reported) == 0 {
		t.Errorf("%d of %d verdicts are missing, and %d are there", missing, len(reported), all)
	}
}

// batchAboutThemselves is a batch of questions of a user, each about another instance.
func batchAboutThemselves(t *testing.T, s *harness.Team) string {
	t.Helper()
	type entity map[string]any
	questions := make([]entity, batchSize)
	for i := range questions {
		questions[i] = entity{"resource": entity{"type": "project", "id": s.Project, "properties": entity{"account": s.Account}}}
	}
	text, err := json.Marshal(entity{"subject": entity{"type": "user", "id": s.Bob}, "action": entity{"name": "project:instance:read"}, "evaluations": questions})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// postBatch sends a batch, which has to be answered or refused for the load.
func postBatch(ctx context.Context, client *http.Client, base, token, body string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/access/v1/evaluations", strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	a, err := client.Do(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, a.Body)
	_ = a.Body.Close()
	return err
}
