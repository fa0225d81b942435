package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

const (
	comparePath = "/policy/compare"
	// maxBundle bounds an uploaded bundle in bytes, compareWithin the comparison.
	maxBundle     = 16 << 20
	compareWithin = 5 * time.Minute
	// lookEvery is how often the page of a running comparison is loaded again. One at which nobody looks for
	// unseenWithin ends.
	lookEvery    = 2 * time.Second
	unseenWithin = 20 * time.Second
)

// Comparer judges a policy beside the one in force.
type Comparer interface {
	// Compare judges a bundle with the rights of a user's access token, or runs the tests of the tree in force without a
	// bundle. It notes each step that has ended, and changes nothing. It ends with the context.
	Compare(ctx context.Context, token string, bundle []byte, note func(CompareStep))
}

// CompareStep is a part of a comparison.
type CompareStep struct {
	Title string
	// Good is that the step says nothing against the policy.
	Good bool
	// Text is the report, as the commands print it.
	Text string
	Took time.Duration
}

// comparisons are those of this process: one that runs, and the last one of each operator.
type comparisons struct {
	mu      sync.Mutex
	running *comparison
	last    map[string]*comparison
}

// comparison is one, as far as it has come.
type comparison struct {
	user, file string
	began      time.Time
	cancel     context.CancelFunc

	mu     sync.Mutex
	steps  []CompareStep
	seen   time.Time
	ended  bool
	reason string
}

// comparePages are those of comparisons.
func comparePages() map[string]func(*page) error {
	return map[string]func(*page) error{
		"GET " + comparePath: showCompare, "POST " + comparePath: beginCompare, "POST " + comparePath + "/stop": stopCompare,
	}
}

// compareView is the page of a comparison.
type compareView struct {
	// Running is the running comparison's operator, "" for none. Mine is that it is the reader's.
	Running string
	Mine    bool
	File    string
	Began   resources.Time
	Steps   []CompareStep
	// Reason is why it has ended before its end.
	Reason string
	Ended  bool
	// Problem is why the form was refused.
	Problem string
	MaxMiB  int
}

var errNotOperator = &apiError{Status: http.StatusForbidden, Message: "Comparing policies is for operators of the installation (--console-operators)."}

// seeOther sends the browser to a page of the console.
func (p *page) seeOther(path string) error {
	http.Redirect(p.w, p.r, path, http.StatusSeeOther)
	return nil
}

// mayCompare refuses all but operators.
func mayCompare(p *page) error {
	if p.c.cfg.Compare == nil || !p.c.isOperator(p.session.UserID) {
		return errNotOperator
	}
	return nil
}

func showCompare(p *page) error {
	if err := mayCompare(p); err != nil {
		return err
	}
	return compareStatus(p, http.StatusOK, "")
}

// compareStatus shows the reader's last comparison, and the form.
func compareStatus(p *page, status int, problem string) error {
	all := &p.c.compares
	all.mu.Lock()
	running, latest := all.running, all.last[p.session.UserID]
	all.mu.Unlock()
	v := compareView{Problem: problem, MaxMiB: maxBundle >> 20}
	if running != nil {
		v.Running, v.Mine = running.user, running == latest
	}
	if latest != nil {
		latest.mu.Lock()
		latest.seen = p.c.cfg.Now()
		v.File, v.Began, v.Steps, v.Reason, v.Ended = latest.file, resources.At(latest.began), append([]CompareStep(nil), latest.steps...), latest.reason, latest.ended
		latest.mu.Unlock()
	}
	if v.Mine {
		p.w.Header().Set("Refresh", fmt.Sprintf("%d; url=%s", int(lookEvery.Seconds()), comparePath))
	}
	return p.show(status, "compare", "Compare a policy", "/policy", v)
}

// beginCompare takes a bundle, and has it compared beside the request.
func beginCompare(p *page) error {
	if err := mayCompare(p); err != nil {
		return err
	}
	if p.field("in_force") == "1" {
		return runCompare(p, inForceName, nil)
	}
	file, head, err := p.r.FormFile("bundle")
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return compareStatus(p, http.StatusRequestEntityTooLarge, fmt.Sprintf("The bundle is larger than %d MiB.", maxBundle>>20))
	}
	if err != nil {
		return compareStatus(p, http.StatusBadRequest, "Choose the file of a bundle, as portcullis policy build makes it.")
	}
	bundle, err := io.ReadAll(file)
	if err = errors.Join(err, file.Close(), p.r.MultipartForm.RemoveAll()); err != nil || len(bundle) == 0 {
		return compareStatus(p, http.StatusBadRequest, "The file is empty, or did not arrive whole.")
	}
	return runCompare(p, head.Filename, bundle)
}

// inForceName is what a page shows in place of a file's name.
const inForceName = "The policy in force"

// runCompare begins a comparison beside the request; without a bundle the tests of the tree in force.
func runCompare(p *page, name string, bundle []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.r.Context()), compareWithin)
	now := p.c.cfg.Now()
	one := &comparison{user: p.session.UserID, file: name, began: now, seen: now, cancel: cancel}
	if !p.c.compares.begin(one) {
		cancel()
		return compareStatus(p, http.StatusServiceUnavailable, "Another comparison runs in this console. Try again when it has ended.")
	}
	go p.c.compare(ctx, one, p.session.Token, bundle)
	return p.seeOther(comparePath)
}

// begin makes a comparison the running one, unless there is one.
func (c *comparisons) begin(one *comparison) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running != nil {
		return false
	}
	if c.last == nil {
		c.last = map[string]*comparison{}
	}
	c.running, c.last[one.user] = one, one
	return true
}

// compare runs a comparison to its end.
func (c *Console) compare(ctx context.Context, one *comparison, token string, bundle []byte) {
	defer one.cancel()
	stop := context.AfterFunc(c.followers.ended, one.cancel)
	defer stop()
	go one.watch(ctx, c.cfg.Now)
	reason := ""
	defer func() {
		if failed := recover(); failed != nil {
			c.cfg.Log.Error("a comparison of policies failed", "error", fmt.Sprint(failed))
			reason = "It failed inside of the console, whose log says why."
		}
		one.end(reason)
		c.compares.mu.Lock()
		c.compares.running = nil
		c.compares.mu.Unlock()
	}()
	c.cfg.Compare.Compare(ctx, token, bundle, one.note)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		reason = fmt.Sprintf("It did not end within %s.", compareWithin)
	case ctx.Err() != nil:
		reason = "It was stopped."
	}
}

// watch ends a comparison at which nobody looks any more.
func (o *comparison) watch(ctx context.Context, now func() time.Time) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			o.mu.Lock()
			unseen := now().Sub(o.seen) > unseenWithin
			o.mu.Unlock()
			if unseen {
				o.cancel()
			}
		}
	}
}

func (o *comparison) note(step CompareStep) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.steps = append(o.steps, step)
}

func (o *comparison) end(reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended, o.reason = true, reason
}

// stopCompare ends the reader's comparison.
func stopCompare(p *page) error {
	if err := mayCompare(p); err != nil {
		return err
	}
	all := &p.c.compares
	all.mu.Lock()
	if running := all.running; running != nil && running.user == p.session.UserID {
		running.cancel()
	}
	all.mu.Unlock()
	return p.seeOther(comparePath)
}
