package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// The cookies. The prefix binds a cookie to the host and to TLS. Browsers reject it over plain HTTP, which the console
// serves on a loopback address only.
const (
	hostPrefix    = "__Host-"
	sessionCookie = "portcullis"
	loginCookie   = "portcullis-login"
	themeCookie   = "portcullis-theme"
)

func (c *Console) cookieName(name string) string {
	if c.secure() {
		return hostPrefix + name
	}
	return name
}

// setCookie sets a cookie that scripts can't read. An empty value deletes the cookie.
func (c *Console) setCookie(w http.ResponseWriter, name, value string, life time.Duration, site http.SameSite) {
	//nolint:gosec // over plain HTTP, on a loopback address alone, a browser would not send a cookie with Secure
	cookie := &http.Cookie{Name: c.cookieName(name), Value: value, Path: "/", Secure: c.secure(), HttpOnly: true, SameSite: site, MaxAge: int(life.Seconds())}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, cookie)
}

// cookie returns the value of a cookie, or "" if the request does not have exactly one.
func (c *Console) cookie(r *http.Request, name string) string {
	all := r.CookiesNamed(c.cookieName(name))
	if len(all) != 1 {
		return ""
	}
	return all[0].Value
}

// themeOf returns the theme that the user chose, or "" for the system's setting.
func themeOf(r *http.Request) string {
	for _, cookie := range append(r.CookiesNamed(themeCookie), r.CookiesNamed(hostPrefix+themeCookie)...) {
		if isTheme(cookie.Value) {
			return cookie.Value
		}
	}
	return ""
}

// isTheme reports whether a text names a theme.
func isTheme(text string) bool { return text == "light" || text == "dark" }

// signedIn shows a page to a signed-in user and redirects everybody else to the sign-in page.
func (c *Console) signedIn(show func(*page) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		secret := c.cookie(r, sessionCookie)
		var session *resources.ConsoleSession
		if secret != "" {
			var err error
			if session, err = c.cfg.Sessions.Session(r.Context(), secret, true); err != nil {
				c.cfg.Log.Error("reading a console session failed", "request_id", r.Header.Get("X-Request-ID"), "error", err.Error())
				c.refuse(w, r, http.StatusServiceUnavailable, "The console can't read sessions now.", "Try again in a moment.")
				return
			}
		}
		if session == nil {
			c.signInFirst(w, r)
			return
		}
		p := &page{c: c, w: w, r: r, session: session, secret: secret, api: &client{api: c.cfg.API, token: session.Token, requestID: r.Header.Get("X-Request-ID")}}
		if err := p.enter(); err != nil {
			p.refuseEntry(err)
			return
		}
		if err := show(p); err != nil {
			p.fail(err)
		}
	}
}

// signInFirst redirects to the sign-in page. A posted form is not repeated after the sign-in.
func (c *Console) signInFirst(w http.ResponseWriter, r *http.Request) {
	back := "/"
	if r.Method != http.MethodPost {
		back = ownPath(r.URL.RequestURI())
	}
	target := "/login"
	if back != "/" {
		target += "?" + url.Values{"return_to": {back}}.Encode()
	}
	http.Redirect(w, r, target, http.StatusSeeOther)
}

// refuseEntry shows, without the menu, why the gateway did not let the user in. It ends the session if the gateway refuses
// the user.
func (p *page) refuseEntry(err error) {
	if p.refusedToken(err) {
		return
	}
	if refused, ok := isRefusal(err, http.StatusForbidden); ok {
		p.ended()
		p.c.refuse(p.w, p.r, refused.Status, refused.Message, "Ask an admin of the account.")
		return
	}
	said := p.refusalFor(err)
	p.c.templates.render(p.w, said.Status, "error", view{Title: http.StatusText(said.Status), Theme: themeOf(p.r), Data: said})
}

// ended ends a session after the gateway refused its token.
func (p *page) ended() {
	if err := closing(p.r, p.secret, p.c.cfg.Sessions.End); err != nil {
		p.c.cfg.Log.Error("ending a console session failed", "error", err.Error())
	}
	p.c.setCookie(p.w, sessionCookie, "", 0, http.SameSiteStrictMode)
}

// closing ends a session, also for a browser that was closed before the answer: its cookie would stay good.
func closing(r *http.Request, secret string, end func(context.Context, string) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), callsWithin)
	defer cancel()
	return end(ctx, secret)
}

var errNoPage = errors.New("the console does not have this page")
