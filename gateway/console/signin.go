package console

import (
	"errors"
	"net/http"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// sessionLife is the life of the session's cookie. The session itself ends earlier.
const sessionLife = 12 * time.Hour

// signInView is the data of the sign-in page.
type signInView struct {
	// Provider is the identity provider's host, or "" if users sign in with links.
	Provider string
	// Code is the code of a link, ReturnTo the page after the sign-in.
	Code, ReturnTo string
	// Problem says why the last attempt failed.
	Problem string
}

// publicRoutes registers the routes that need no session.
func (c *Console) publicRoutes() {
	c.mux.HandleFunc("GET /login", c.showLogin)
	c.mux.HandleFunc("GET /login/link", c.showLink)
	c.mux.HandleFunc("POST /login/link", c.redeem)
	c.mux.HandleFunc("POST /logout", c.logout)
	c.mux.HandleFunc("POST /theme", c.setTheme)
	if c.cfg.Provider != nil {
		c.mux.HandleFunc("POST /login", c.startLogin)
		c.mux.HandleFunc("GET /login/callback", c.finishLogin)
	}
}

// showLogin shows the sign-in page.
func (c *Console) showLogin(w http.ResponseWriter, r *http.Request) {
	c.login(w, r, http.StatusOK, signInView{ReturnTo: ownPath(r.URL.Query().Get("return_to"))})
}

func (c *Console) login(w http.ResponseWriter, r *http.Request, status int, v signInView) {
	if c.cfg.Provider != nil {
		v.Provider = c.cfg.Provider.host()
	}
	c.templates.render(w, status, "login", view{Title: "Sign in", Theme: themeOf(r), Path: "/login", Data: v})
}

// showLink shows the button that redeems the code of a link. The link alone does not redeem it, since mail scanners
// open links.
func (c *Console) showLink(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Referrer-Policy", originAlone)
	if c.cfg.Provider != nil {
		c.refuse(w, r, http.StatusNotFound, "People sign in with the identity provider here.", "")
		return
	}
	c.login(w, r, http.StatusOK, signInView{Code: r.URL.Query().Get("code")})
}

// redeem signs in with the code of a link.
func (c *Console) redeem(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Referrer-Policy", originAlone)
	if c.cfg.Provider != nil {
		c.refuse(w, r, http.StatusNotFound, "People sign in with the identity provider here.", "")
		return
	}
	secret, err := c.cfg.Sessions.Redeem(r.Context(), r.PostFormValue("code"))
	if err != nil {
		c.failLogin(w, r, err)
		return
	}
	c.begin(w, r, secret, "/")
}

// begin sets the session's cookie and ends the browser's former session, which may belong to another user. It shows a
// page that loads the next one, since browsers send a SameSite=Strict cookie only if a page of the console asks.
func (c *Console) begin(w http.ResponseWriter, r *http.Request, secret, returnTo string) {
	if old := c.cookie(r, sessionCookie); old != "" {
		if err := closing(r, old, c.cfg.Sessions.End); err != nil {
			c.cfg.Log.Error("ending a former console session failed", "error", err.Error())
		}
	}
	c.setCookie(w, sessionCookie, secret, sessionLife, http.SameSiteStrictMode)
	c.templates.render(w, http.StatusOK, "welcome", view{Title: "Signed in", Theme: themeOf(r), Data: returnTo})
}

// failLogin shows why a sign-in failed.
func (c *Console) failLogin(w http.ResponseWriter, r *http.Request, err error) {
	status, problem := http.StatusServiceUnavailable, "Nobody can sign in now. Try again in a moment."
	if refused, ok := errors.AsType[*resources.Error](err); ok && refused.Kind != resources.KindUnavailable && refused.Kind != resources.KindInternal {
		status, problem = http.StatusForbidden, sentence(refused.Message)+"."
	} else {
		c.cfg.Log.Error("a sign-in to the console failed", "request_id", r.Header.Get("X-Request-ID"), "error", err.Error())
	}
	c.login(w, r, status, signInView{Problem: problem, ReturnTo: "/"})
}

// logout ends the session or, with all=1, every session of its user.
func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	if secret := c.cookie(r, sessionCookie); secret != "" {
		end := c.cfg.Sessions.End
		if r.PostFormValue("all") == "1" {
			end = c.cfg.Sessions.EndAll
		}
		if err := closing(r, secret, end); err != nil {
			c.failLogin(w, r, err)
			return
		}
	}
	c.setCookie(w, sessionCookie, "", 0, http.SameSiteStrictMode)
	w.Header().Set("Clear-Site-Data", `"cache", "storage"`)
	c.login(w, r, http.StatusOK, signInView{ReturnTo: "/"})
}

// setTheme stores the chosen theme in a cookie.
func (c *Console) setTheme(w http.ResponseWriter, r *http.Request) {
	theme := r.PostFormValue("theme")
	if !isTheme(theme) {
		theme = ""
	}
	c.setCookie(w, themeCookie, theme, 365*24*time.Hour, http.SameSiteStrictMode)
	http.Redirect(w, r, ownPath(r.PostFormValue("return_to")), http.StatusSeeOther) //nolint:gosec // ownPath returns a path of the console
}
