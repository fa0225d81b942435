package console_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// tab is a page in Chromium, which notes what the console must not cause.
type tab struct {
	t    *testing.T
	ctx  context.Context //nolint:containedctx // it is the tab
	base string

	mu sync.Mutex
	// opened is the address of the page, whose own status may be a refusal.
	opened string
	// problems are violations of the content security policy, messages in the browser's console, and requests to
	// other hosts.
	problems []string
}

// need skips a test without its tool, which CI must have.
func need(t *testing.T, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED, since this machine has no %s: %v", tool, err)
	}
}

// openTab starts Chromium with a folder of its own.
func openTab(t *testing.T, g *harness.Gateway) *tab {
	t.Helper()
	need(t, "chromium")
	dir, err := os.MkdirTemp("", "portcullis-chromium")
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, //nolint:gocritic // a copy is meant
		chromedp.UserDataDir(dir), chromedp.ModifyCmdFunc(inFolder(dir)), chromedp.Env("TMPDIR=."), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeTab := chromedp.NewContext(allocator)
	ctx, cancel := context.WithTimeout(ctx, 8*time.Minute)
	t.Cleanup(func() {
		cancel()
		closeTab()
		end()
		harness.Soon(t, "Chromium's folder is free", func() bool { return os.RemoveAll(dir) == nil })
	})
	b := &tab{t: t, ctx: ctx, base: g.ConsoleURL}
	b.run(chromedp.Navigate("about:blank"))
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	call(b, log.Enable, cdp.Empty{})
	call(b, audits.Enable, cdp.Empty{})
	call(b, network.Enable, network.EnableParams{})
	return b
}

// inFolder has Chromium run in a folder, and end with the test process. Its temporary files are there under relative names: the
// path of its socket has 107 bytes at most.
func inFolder(dir string) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) {
		cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	}
}

// call sends a command to the tab.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

// note keeps what an event says against the page.
func (b *tab) note(event any) {
	problem := ""
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if refused := e.Entry.URL == b.page() && strings.HasPrefix(e.Entry.Text, "Failed to load resource: the server responded with a status of 4"); !refused {
			problem = fmt.Sprintf("log: %s %s", e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		problem = fmt.Sprintf("console.%s", e.Type)
	case *runtime.EventExceptionThrown:
		problem = "exception: " + e.ExceptionDetails.Text
	case *audits.EventIssueAdded:
		problem = fmt.Sprintf("issue: %s", e.Issue.Code)
		if details := e.Issue.Details; details != nil && details.GenericIssueDetails != nil {
			problem += ": " + string(details.GenericIssueDetails.ErrorType)
		}
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err != nil || u.Scheme+"://"+u.Host != b.base && u.Scheme != "data" && u.Scheme != "about" {
			problem = "a request to " + e.Request.URL
		}
	}
	if problem == "" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, problem)
}

// wantNoProblem holds the tab to what was noted since the last call.
func (b *tab) wantNoProblem(title string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.problems {
		b.t.Errorf("%s: %s", title, text)
	}
	b.problems = nil
}

func (b *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// page returns the address of the page.
func (b *tab) page() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.opened
}

// open shows a page of the console.
func (b *tab) open(path string) {
	b.t.Helper()
	b.mu.Lock()
	b.opened = b.base + path
	b.mu.Unlock()
	b.run(chromedp.Navigate(b.base + path))
}

// holds evaluates a condition in the page; false while the page changes.
func (b *tab) holds(condition string) bool {
	is, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](condition))
	return err == nil && is
}

// wait waits for a condition in the page.
func (b *tab) wait(condition string) {
	b.t.Helper()
	for started := time.Now(); !b.holds(condition); <-time.After(20 * time.Millisecond) {
		if time.Since(started) > 30*time.Second {
			b.t.Fatalf("not within 30 s: %s in\n%s", condition, b.text())
		}
	}
}

// text returns what the page says.
func (b *tab) text() string {
	text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText")) // for a message of a test
	return text
}

// press types letters, where a tab character is the key Tab, and a line break Enter.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.run(chromedp.KeyEvent(keys))
}

// tabTo presses Tab until an element has the focus.
func (b *tab) tabTo(selector string) {
	b.t.Helper()
	for range 120 {
		b.press("\t")
		if b.holds(fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			return
		}
	}
	b.t.Fatalf("Tab does not lead to %s in\n%s", selector, b.text())
}

// signIn opens a link of a user, and presses its button.
func (b *tab) signIn(g *harness.Gateway, user string) {
	b.t.Helper()
	b.open("/login/link?code=" + newCode(b.t, g, user))
	b.wait(`document.activeElement.matches("main button")`)
	b.press("\r")
	b.wait(`location.pathname === "/" && document.readyState === "complete"`)
}

// look sets the width of the window and the colours of the system.
func (b *tab) look(width int64, colours string) {
	b.t.Helper()
	b.run(chromedp.EmulateViewport(width, 900))
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: colours}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
}

// menu are the pages of the menu, with a question that is denied, and pages of people and projects.
func menu() []string {
	return []string{
		"/", "/ask", denied, "/who", "/people", "/decisions", "/changes", "/policy", "/policy/compare", "/platform", "/people/" + bob, "/people/" + bob + "/assign",
		"/people/" + bob + "/revoke?role=project_reader&project=proj-demo-v1", "/people/" + alice + "/keys", "/approvals", "/groups", "/agents", "/roles", "/roles/new", "/roles/account_admin",
		"/platform/proj-demo-v1", "/platform/proj-demo-v1/kubernetes",
	}
}

// denied is a question about Bob, who may only read.
var denied = "/ask?" + url.Values{"user": {bob}, "action": {"project:instance:create"}, "project": {"proj-demo-v1"}}.Encode()
