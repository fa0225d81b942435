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
	// maxBundle limits a bundle and maxUpload the form that contains it, in bytes. compareWithin is the deadline of a
	// comparison.
	maxBundle     = 16 << 20
	maxUpload     = 4 * maxBundle
	compareWithin = 5 * time.Minute
	// lookEvery is how often the browser reloads the page of a running comparison. A comparison is cancelled if nobody
	// loads the page for unseenWithin: a browser whose reload has failed sends no further one.
	lookEvery    = 2 * time.Second
	unseenWithin = 4 * lookEvery
)

// Comparer compares a policy with the one in force.
type Comparer interface {
	// Compare compares a bundle with the policy in force, with the rights of a user's access token. Without a bundle it
	// runs the tests of the policy in force. It calls note after each step, and installs nothing.
	Compare(ctx context.Context, token string, bundle []byte, note func(CompareStep))
}

// CompareStep is the result of one step of a comparison.
type CompareStep struct {
	Title string
	// Good is true if the step found nothing against the policy.
	Good bool
	// Text is the report in the form that the commands print.
	Text string
}

// comparisons holds the running comparison of this process and the last one of each operator.
type comparisons struct {
	mu      sync.Mutex
	running *comparison
	last    map[string]*comparison
}

// comparison is one comparison with the steps that have ended.
type comparison struct {
	user, file string
	began      time.Time
	cancel     context.CancelFunc

	mu     sync.Mutex
	steps  []CompareStep
	seen   time.Time
	reason string
}

// comparePages returns the handlers of comparisons, by pattern.
func comparePages() map[string]func(*page) error {
	return map[string]func(*page) error{
		"GET " + comparePath: showCompare, "POST " + comparePath: beginCompare, "POST " + comparePath + "/stop": stopCompare,
	}
}

// compareView is the data of the page of a comparison.
type compareView struct {
	// Running is the operator of the running comparison, or "". Mine is true if the reader began it.
	Running string
	Mine    bool
	File    string
	Began   resources.Time
	Steps   []CompareStep
	// Reason says why the comparison was cut short, or is "".
	Reason string
	// Problem says why the form was refused.
	Problem string
	MaxMiB  int
}

var errNotOperator = &apiError{Status: http.StatusForbidden, Message: "Only operators of the installation may compare policies (--console-operators)."}

// seeOther redirects the browser to a page of the console.
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

// compareStatus shows the form and the reader's last comparison.
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
		v.File, v.Began, v.Steps, v.Reason = latest.file, resources.At(latest.began), append([]CompareStep(nil), latest.steps...), latest.reason
		latest.mu.Unlock()
	}
	if v.Mine {
		p.w.Header().Set("Refresh", fmt.Sprintf("%d; url=%s", int(lookEvery.Seconds()), comparePath))
	}
	return p.show(status, "compare", "Compare a policy", "/policy", v)
}

// beginCompare starts a comparison in the background.
func beginCompare(p *page) error {
	if err := mayCompare(p); err != nil {
		return err
	}
	if p.field("in_force") == "1" {
		return runCompare(p, inForceName, nil)
	}
	name, bundle, err := readBundle(p.r)
	switch {
	case errors.Is(err, errBundleTooLarge):
		return compareStatus(p, http.StatusRequestEntityTooLarge, fmt.Sprintf("The bundle is larger than %d MiB.", maxBundle>>20))
	case err != nil:
		return compareStatus(p, http.StatusBadRequest, "The upload was cut short. Choose the file, and send it again.")
	case len(bundle) == 0:
		return compareStatus(p, http.StatusBadRequest, "The form has no bundle. Choose a file that portcullis policy build wrote.")
	}
	return runCompare(p, name, bundle)
}

var errBundleTooLarge = errors.New("the bundle is too large")

// readBundle returns the file in the form and its name, or no bytes for a form without a file.
func readBundle(r *http.Request) (name string, bundle []byte, err error) {
	parts, err := r.MultipartReader()
	if err != nil {
		return "", nil, err
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return "", nil, nil
		}
		if err != nil {
			return "", nil, err
		}
		if part.FormName() != "bundle" {
			continue
		}
		bundle, err = io.ReadAll(io.LimitReader(part, maxBundle+1))
		if err == nil && len(bundle) > maxBundle {
			err = errBundleTooLarge
		}
		return part.FileName(), bundle, err
	}
}

// inForceName is what a page shows in place of a file's name.
const inForceName = "The policy in force"

// runCompare starts a comparison in the background or, without a bundle, the tests of the policy in force.
func runCompare(p *page, name string, bundle []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.r.Context()), compareWithin)
	now := p.c.cfg.Now()
	one := &comparison{user: p.session.UserID, file: name, began: now, seen: now, cancel: cancel}
	if !p.c.compares.begin(one) {
		cancel()
		return compareStatus(p, http.StatusServiceUnavailable, "Another comparison is running in this console. Try again when it has ended.")
	}
	go p.c.compare(ctx, one, p.session.Token, bundle)
	return p.seeOther(comparePath)
}

// begin makes a comparison the running one. It returns false if another one is running.
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

// compare runs a comparison.
func (c *Console) compare(ctx context.Context, one *comparison, token string, bundle []byte) {
	defer one.cancel()
	stop := context.AfterFunc(c.followers.ended, one.cancel)
	defer stop()
	go one.watch(ctx, c.cfg.Now)
	reason := ""
	defer func() {
		if failed := recover(); failed != nil {
			c.cfg.Log.Error("comparing policies panicked", "error", fmt.Sprint(failed))
			reason = "The console failed. Its log has the error."
		}
		one.end(reason)
		c.compares.mu.Lock()
		c.compares.running = nil
		c.compares.mu.Unlock()
	}()
	c.cfg.Compare.Compare(ctx, token, bundle, one.note)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		reason = fmt.Sprintf("It exceeded its time limit of %s.", compareWithin)
	case ctx.Err() != nil:
		reason = "It was stopped."
	}
}

// watch cancels the comparison if nobody loads its page for unseenWithin.
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
	o.reason = reason
}

// stopCompare cancels the reader's comparison.
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
