package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/policies/policytest"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/test/must"
)

// TestAccountsTakeTurnsAtTheGate guarantees that questions outside of a transaction queue by account, at every entry
// point. An account with a full queue gives way to another.
func TestAccountsTakeTurnsAtTheGate(t *testing.T) {
	for name, ask := range map[string]func(context.Context, *engine.Engine, resources.Question) error{
		"decide": func(ctx context.Context, e *engine.Engine, q resources.Question) error {
			_, err := e.Decide(ctx, q)
			return err
		},
		"access": func(ctx context.Context, e *engine.Engine, q resources.Question) error {
			_, err := e.Access(ctx, q)
			return err
		},
		"suppose": func(ctx context.Context, e *engine.Engine, q resources.Question) error {
			_, err := e.Pin().Suppose(ctx, q)
			return err
		},
		"explain": func(ctx context.Context, e *engine.Engine, q resources.Question) error {
			_, err := e.Pin().Explain(ctx, q)
			return err
		},
		"granted": func(ctx context.Context, e *engine.Engine, q resources.Question) error {
			_, _, err := e.Pin().Granted(ctx, q)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := gate.New(1, 2)
			e := newEngine(t, policytest.Copy(t, policies.Tree()), engine.Options{Gate: g, Verdicts: -1})
			synctest.Test(t, func(t *testing.T) {
				must.Do(t, g.TryEnter())
				refused := map[string]int{}
				for _, account := range []string{"acct-loud-v1", "acct-loud-v1", "acct-quiet-v1"} {
					q := policytest.Question(policytest.AdminSubject(), "account:user:read")
					subject := q.Facts.Subject.Clone()
					q.AccountID, subject.AccountID, q.Facts.Subject = account, account, subject
					go func() {
						if err := ask(t.Context(), e, q); errors.Is(err, gate.ErrFull) {
							refused[account]++
						} else if err != nil {
							t.Errorf("%s: %v", account, err)
						}
					}()
					synctest.Wait()
				}
				if refused["acct-loud-v1"] != 1 || len(refused) != 1 {
					t.Errorf("refused: %v", refused)
				}
				g.Leave()
				synctest.Wait()
			})
		})
	}
}

// TestQuestionsAreCounted guarantees that what is put to a tree is counted, whether it is answered or not.
func TestQuestionsAreCounted(t *testing.T) {
	p := newEngine(t, policytest.Copy(t, policies.Tree()), engine.Options{}).Pin()
	q := policytest.Question(policytest.AdminSubject(), "account:user:read")
	_, _ = p.Decide(t.Context(), q)
	_, _ = p.Decide(t.Context(), q) // out of the cache
	_, _ = p.Access(t.Context(), q)
	_, _ = p.Suppose(t.Context(), q)
	_, _ = p.Explain(t.Context(), q)
	_, _, _ = p.Granted(t.Context(), q)
	_, _ = p.DecideApp(t.Context(), resources.Question{})
	if got := p.Judged(); got != 7 {
		t.Errorf("%d, want 7", got)
	}
}
