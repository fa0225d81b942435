package console_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestPagesInABrowser guarantees that no page breaks the content security policy, writes to the browser's console, asks
// another host, or scrolls sideways at 320 px, at 200 %, or in a wide window. It looks at the demo's data and at none, at
// ten thousand members and nasty names, at refusals, and at wrong fields.
func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	t.Run("demo", func(t *testing.T) {
		t.Parallel()
		g := demo(t)
		b := openTab(t, g)
		b.lookAt("demo-login", "/login")
		b.signIn(g, alice)
		b.wantNoProblem("sign-in")
		for _, path := range menu() {
			b.lookAt("demo-"+fileName(path), path)
		}
		for title, one := range linked() {
			b.open(one.path)
			b.wait(`document.querySelector(` + "`" + one.selector + "`" + `) !== null && document.readyState === "complete"`)
			b.run(chromedp.Evaluate[chromedp.Void](`document.querySelector(`+"`"+one.selector+"`"+`).focus(); undefined`, chromedp.EvalIgnoreExceptions))
			b.press("\r")
			b.wait(`document.querySelector("` + one.shows + `") !== null && document.readyState === "complete"`)
			b.lookAround("demo-" + title)
		}
	})
	for name, one := range scenes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, made := one.start(t)
			b := openTab(t, g)
			b.signIn(g, one.user)
			for i, path := range one.pages {
				path = made.Replace(path)
				b.lookAt(fmt.Sprintf("%s-%s-%d", name, fileName(path), i), path)
			}
			if one.form != "" {
				b.sendForm(one.form)
				b.lookAround(name + "-form")
			}
		})
	}
}

// link is a page behind a link or a button of another one, which has an element then.
type link struct{ path, selector, shows string }

// linked are pages whose addresses nobody knows before.
func linked() map[string]link {
	return map[string]link{
		"apply":    {denied, `a[href^="/apply"]`, "form[action='/apply']"},
		"decision": {"/decisions", `.decision .whole`, ".tree"},
		"preview":  {"/people/" + bob + "/remove", `button[value=preview]`, ".preview"},
		"menu":     {"/", `.me summary`, ".me[open]"},
	}
}

// sendForm sends the form of the open page with this action, as it is, and waits for the answer.
func (b *tab) sendForm(action string) {
	b.t.Helper()
	ready := fmt.Sprintf(`{ const form = document.querySelector(`+"`form[method=post][action=%q]`"+`); form.noValidate = true; form.closest("details").open = true; form.querySelector("button").focus(); }; undefined`, action)
	b.run(chromedp.Evaluate[chromedp.Void](ready, chromedp.EvalIgnoreExceptions))
	b.press("\r")
	b.wait(`document.querySelector("[role=alert]") !== null && document.readyState === "complete"`)
}

// TestADenialIsMendedByKeyboard guarantees the way from a link to an applied fix without a mouse, with scripts and
// without.
func TestADenialIsMendedByKeyboard(t *testing.T) {
	t.Parallel()
	for name, off := range map[string]bool{"with scripts": false, "without scripts": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := demo(t)
			b := openTab(t, g)
			call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: off})
			b.signIn(g, alice)
			if off {
				b.tabTo(`nav a[href="/ask"]`)
				b.press("\r")
			} else {
				b.press("ga")
			}
			b.wait(`location.pathname === "/ask" && document.readyState === "complete"`)
			b.tabTo(`[name=user]`)
			b.press(bob)
			b.tabTo(`[name=action]`)
			b.press("project:instance:create")
			b.tabTo(`[name=project]`)
			b.press("Demo")
			b.tabTo(`main form button`)
			b.press("\r")
			b.wait(`document.querySelector("main .verdict.deny") !== null`)
			b.tabTo(`a[href^="/apply"]`)
			b.press("\r")
			b.wait(`location.pathname === "/apply" && document.readyState === "complete"`)
			b.tabTo(`form[action="/apply"] button`)
			b.press("\r")
			b.wait(`document.querySelector("main .verdict.allow") !== null && document.querySelector("main [role=status]") !== null`)
			b.wantNoProblem("the way to a fix")
		})
	}
}

// shownWithin is how soon a denial is on an open page.
const shownWithin = 2 * time.Second

// TestADenialIsOnTheOpenPage guarantees that the page of decisions shows a denial of E3 within two seconds of its answer,
// without being loaded again, also after the computer's clock was set back.
func TestADenialIsOnTheOpenPage(t *testing.T) {
	t.Parallel()
	g := demo(t)
	b := openTab(t, g)
	b.signIn(g, alice)
	b.open("/decisions")
	b.wait(`document.readyState === "complete"`)
	b.run(chromedp.Evaluate[chromedp.Void](`window.since = "opened"; { const now = Date.now; Date.now = () => now() - 7200000; }; undefined`, chromedp.EvalIgnoreExceptions))
	token := g.ServiceToken(t, resources.ServiceScopeCheck)
	for _, action := range []string{"project:widget:paint", "project:widget:burn"} {
		shown := "document.body.innerText.includes(" + strconv.Quote(action) + ")"
		if b.holds(shown) {
			t.Fatalf("%s is there already", action)
		}
		path := "/api/v1/authorize/accounts/" + demoAccount + "/projects/proj-demo-v1/instances"
		if r := harness.Call(t, "POST", g.URL+path, token, "", "x-user-id", bob, "x-account-id", demoAccount, "x-action", action); r.Status != http.StatusOK || r.Body["allowed"] != false {
			t.Fatalf("%d %s", r.Status, r.Raw)
		}
		answered := time.Now()
		b.wait(shown)
		if took := time.Since(answered); took > shownWithin {
			t.Errorf("%s is shown after %s", action, took)
		}
	}
	if !b.holds(`window.since === "opened"`) {
		t.Error("the page was loaded again")
	}
	b.wantNoProblem("decisions")
}

// TestADenialIsOnTheOpenPageAmongMany guarantees it for a page of all decisions while more allows are made than it shows,
// and that the page says so. Rows get the names of people that are on the page.
func TestADenialIsOnTheOpenPageAmongMany(t *testing.T) {
	t.Parallel()
	g := demo(t, "--rate-principal", "off")
	b := openTab(t, g)
	b.signIn(g, alice)
	b.open("/decisions?verdict=all&lookups=true")
	b.wait(`document.readyState === "complete"`)
	token := g.ServiceToken(t, resources.ServiceScopeCheck)
	ask := func(action, want string) time.Time {
		path := "/api/v1/authorize/accounts/" + demoAccount + "/projects/proj-demo-v1/instances"
		if r := harness.Call(t, "POST", g.URL+path, token, "", "x-user-id", bob, "x-account-id", demoAccount, "x-action", action); r.Status != http.StatusOK || fmt.Sprint(r.Body["allowed"]) != want {
			t.Fatalf("%d %s", r.Status, r.Raw)
		}
		return time.Now()
	}
	for range 5 {
		for range 30 {
			ask("project:instance:read", "true")
		}
	}
	answered := ask("project:widget:paint", "false")
	for range 30 {
		ask("project:instance:read", "true")
	}
	b.wait(`document.body.innerText.includes("project:widget:paint")`)
	if took := time.Since(answered); took > shownWithin {
		t.Errorf("it is shown after %s", took)
	}
	b.wait(`document.getElementById("live").textContent.includes("without some decisions")`)
	if !b.holds(`[...document.querySelectorAll(".arrived .who")].filter((who) => who.textContent.includes("` + bob + `")).every((who) => who.querySelector("bdi").textContent === "Bob")`) {
		t.Error("rows have no names:\n" + b.text())
	}
	b.wantNoProblem("decisions")
}

// TestAClusterMovesOnTheOpenPage guarantees that the page shows a cluster's new status without being loaded again, keeps
// the focus, and stops to ask once nothing moves.
func TestAClusterMovesOnTheOpenPage(t *testing.T) {
	t.Parallel()
	g := demo(t)
	b := openTab(t, g)
	b.signIn(g, alice)
	token, list := g.UserToken(t, alice), "/api/v1/accounts/"+demoAccount+"/projects/proj-demo-v1/gpu-clusters"
	if made := harness.Call(t, "POST", g.URL+list, token, `{"cluster_name":"train","flavor_id":"f","image_id":"i"}`, "x-account-id", demoAccount); made.Status != http.StatusCreated {
		t.Fatalf("%d %s", made.Status, made.Raw)
	}
	b.open("/platform/proj-demo-v1/gpu-clusters")
	b.wait(`document.readyState === "complete"`)
	b.run(chromedp.Evaluate[chromedp.Void](`window.since = "opened"; document.querySelector("main td.act a").focus(); undefined`, chromedp.EvalIgnoreExceptions))
	if !b.holds(`document.querySelector("[data-poll]") !== null`) {
		t.Fatal(b.text())
	}
	b.wait(`document.body.innerText.includes("running")`)
	if !b.holds(`window.since === "opened" && document.querySelector("[data-poll]") === null && document.activeElement.matches("main td.act a")`) {
		t.Errorf("it was loaded again, is asked for on, or has lost the focus: %s", b.text())
	}
	b.wantNoProblem("clusters")
}

// TestTheListOfFilesShowsTheOpenOne guarantees that the list is scrolled to the file, and the page to the line.
func TestTheListOfFilesShowsTheOpenOne(t *testing.T) {
	t.Parallel()
	g := demo(t)
	b := openTab(t, g)
	b.signIn(g, alice)
	b.look(320, "light")
	b.open("/policy?file=base%3Aroutes%2Fdata.json#L60")
	b.wait(`document.readyState === "complete" && window.scrollY > 500`)
	if !b.holds(`{
		const list = document.querySelector(".files").getBoundingClientRect(), one = document.querySelector(".files [aria-current]").getBoundingClientRect();
		one.top >= list.top && one.bottom <= list.bottom
	}`) {
		t.Error(b.text())
	}
	b.wantNoProblem("policy")
}

// TestFormsOfPagesWithCodes guarantees that a browser names its origin in the form of a link's page, and the address of
// the page in no Referer.
func TestFormsOfPagesWithCodes(t *testing.T) {
	t.Parallel()
	g := demo(t)
	b := openTab(t, g)
	b.open("/login/link?code=none")
	b.wait(`document.activeElement.matches("main button")`)
	b.press("\r")
	b.wait(`document.querySelector("main [role=alert]") !== null`)
	if text := b.text(); !strings.Contains(text, "has been used") {
		t.Error(text)
	}
	if b.holds(`document.referrer.includes("code")`) {
		t.Error("the address of the link is in the Referer")
	}
}
