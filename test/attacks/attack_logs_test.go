package attacks_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/must"
)

// logsArgs have the program send its mail to a server that needs a password, and speak to services
// with one in their address.
func logsArgs(t testing.TB) []string {
	server := newMailServer(t)
	return []string{
		"--smtp-url", "smtp://mailer:" + markedPassword + "@" + server + "?from=gateway@gateway.example", "--accounts-url", "http://127.0.0.1:1/health?token=" + markedPassword, "--notifications-url", "http://127.0.0.1:1/health?token=" + markedPassword,
	}
}

// markedPassword stands in addresses; it is nobody's.
const markedPassword = "pw-marked-0123456789"

// logAttacks guarantees that a secret, sent in its place or anywhere else, is in no log line,
// metric, health detail, error or start-up message. Each input makes one line. Every other class is
// searched for the same at its end.
func logAttacks(w *attacksWorld, r *refusals) {
	w.marks.add("a password", markedPassword)
	secrets := map[string]string{"token": w.tenant.adminToken, "service's token": w.platform, "key": w.tenant.keySecret, "foreign token": newIssuer(w.t).token(w.tenant.admin, ""), "revoked key": unknownKey(w.tenant.keySecret)}
	for name, secret := range secrets {
		if name == "token" || name == "foreign token" || name == "service's token" {
			w.marks.token("the "+name, secret)
		} else {
			w.marks.add("the "+name, secret[len(keyPrefix)+26:])
		}
	}
	var attacks []attack
	for name, secret := range secrets {
		attacks = append(attacks, w.misplaced(name, secret)...)
	}
	for _, line := range hostileText() {
		attacks = append(attacks, w.oneLine(line)...)
	}
	r.all(attacks)
	for _, target := range []string{"/healthz/ready", "/healthz/live", "/metrics", "/api/v1/healthz/ready"} {
		r.cases++
		a, err := exchange(w.HealthURL, request("GET", target, "", bearer(w.platform)))
		if err != nil {
			r.fault("%s: %v", target, err)
		} else if mark := w.marks.find(a.Body); mark != "" {
			r.fault("%s shows %s", target, mark)
		}
	}
	r.searchFolders()
	badSettings(w, r)
	textLog(w, r)
}

// misplaced sends a secret in its place and in the places of clients' mistakes, also in the line of
// the request or of a refusal.
func (w *attacksWorld) misplaced(name, secret string) (out []attack) {
	tenant := w.tenant
	body := func(format string) string { return fmt.Sprintf(format, secret) }
	for title, raw := range map[string]string{
		"as it should be": request("GET", tenant.path("/roles"), "", bearer(secret)), "as a key": request("GET", tenant.path("/roles"), "", "X-API-Key: "+secret), "both": request("GET", tenant.path("/roles"), "", bearer(secret), "X-API-Key: "+secret), "in another scheme": request("GET", tenant.path("/roles"), "", "Authorization: Basic "+secret),
		"without a scheme": request("GET", tenant.path("/roles"), "", "Authorization: "+secret), "changed": request("GET", tenant.path("/roles"), "", bearer(secret+"x")), "twice": request("GET", tenant.path("/roles"), "", bearer(secret), bearer(secret)), "with NUL": request("GET", tenant.path("/roles"), "", bearer(secret)+"\x00"), "with a bare LF": request("GET", tenant.path("/roles"), "", bearer(secret)+"\nX: y"),
		"in a header of too much": request("GET", tenant.path("/roles"), "", bearer(secret), "X-A: "+strings.Repeat("a", 40<<10)), "in a broken body": request("POST", tenant.path("/projects"), body(`{"name":"%s`), bearer(tenant.adminToken)), "as an unknown field": request("POST", tenant.path("/projects"), body(`{"name":"n","%s":1}`), bearer(tenant.bobToken)),
		"as a wrong value": request("POST", tenant.path("/roles"), body(`{"name":"n","scope":"%s","permissions":["account:user:read"]}`), bearer(tenant.bobToken)), "on no route": request("GET", "/nowhere", "", bearer(secret)), "with a wrong method": request("TRACE", tenant.path("/roles"), "", bearer(secret)), "with a wrong path": request("POST", "/api/v1/authorize/x//y", "", bearer(secret)),
		"in a cookie": request("GET", tenant.path("/roles"), "", "Cookie: session="+secret), "in odd framing": request("POST", tenant.path("/projects"), "", bearer(secret), "Content-Length: 5", "Transfer-Encoding: chunked"), "over HTTP/1.0": strings.Replace(request("GET", tenant.path("/roles"), "", bearer(secret)), "HTTP/1.1", "HTTP/1.0", 1), "in a head that stops": "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + secret,
		"as a key's name": request("POST", tenant.path("/users/"+tenant.admin+"/keys"), `{"key_name":"","scopes":["read"]}`, bearer(secret)), "as an Idempotency-Key": request("POST", tenant.path("/groups"), `{"name":""}`, bearer(tenant.adminToken), "Idempotency-Key: "+secret), "as a user": request("POST", "/api/v1/authorize/x", "", bearer(tenant.adminToken), "X-User-ID: "+secret+"/", "X-Account-ID: "+tenant.account, "X-Action: x"),
		"in a path of no route": request("GET", "/x/"+secret+"/y", ""), "as a method": request(secret, "/", ""), "as a request's id": request("GET", tenant.path("/roles"), "", bearer(tenant.adminToken), "X-Request-ID: "+secret), "as an account of the path": request("GET", "/api/v1/accounts/"+secret+"/roles", "", bearer(tenant.adminToken)), "as a user of the path": request("GET", tenant.path("/users/"+secret+"/roles"), "", bearer(tenant.bobToken)),
		"in a path to decide": request("POST", "/api/v1/authorize/projects/"+secret+"/x", "", bearer(w.checker), "X-User-ID: "+tenant.bob, "X-Account-ID: "+tenant.account, "X-Action: project:x:read"), "as a subject": request("POST", "/api/v1/authorize/x", "", bearer(tenant.bobToken), "X-User-ID: "+secret, "X-Account-ID: "+tenant.account, "X-Action: project:x:read"), "as an account to decide in": request("POST", "/api/v1/authorize/x", "", bearer(w.checker), "X-User-ID: "+tenant.bob, "X-Account-ID: "+secret, "X-Action: project:x:read"),
		"in an escaped path": request("GET", "/Bearer%20"+strings.NewReplacer(".", "%2E", "_", "%5f", "-", "%2d").Replace(secret), ""), "as an action": request("POST", "/api/v1/authorize/x", "", bearer(w.checker), "X-User-ID: "+tenant.bob, "X-Account-ID: "+tenant.account, "X-Action: "+secret), "as a security group": request("GET", "/api/v1/accounts/"+tenant.account+"/projects/"+tenant.project+"/security-groups/"+secret, "", bearer(tenant.adminToken)),
	} {
		out = append(out, attack{name: "the " + name + " " + title, raw: raw})
	}
	return out
}

// hostileText would be lines of their own, or move what a terminal shows.
func hostileText() []string {
	const forged = `{"time":"2026-01-01T00:00:00Z","level":"INFO","msg":"request","decision":"allow","forged":true}`
	var out []string
	for _, line := range []string{"\n", "\r", "\r\n", "\u0085", "\u2028", "\u2029", "\x1b[2J", "\x1b]0;title\x07", "\x9b2J", "\v", "\f", "\x00", "\b\b\b", "\x7f", `\n`, `","level":"ERROR`, "\u202e", "%0a", "%0d%0a", "\xff\xfe", "'\"`", "${jndi:ldap://x}", "%n%s%x", "{{.}}"} {
		out = append(out, "a"+line+forged)
	}
	return out
}

// oneLine puts a text wherever a request has room, encoded and raw: the log is searched at the end.
func (w *attacksWorld) oneLine(line string) (out []attack) {
	tenant := w.tenant
	var escaped strings.Builder
	for i := range len(line) {
		fmt.Fprintf(&escaped, "%%%02x", line[i])
	}
	for _, spelt := range []string{line, escaped.String(), strings.ReplaceAll(line, " ", "")} {
		for _, raw := range []string{
			request("GET", "/"+spelt, ""), request("POST", "/api/v1/authorize/"+spelt, "", bearer(w.checker)), request("GET", tenant.path("/roles?status="+spelt), "", bearer(tenant.adminToken)), request(spelt, "/", ""), request("GET", tenant.path("/users/"+spelt+"/profile"), "", bearer(tenant.adminToken)),
			request("POST", "/api/v1/authorize/x", "", bearer(w.checker), "X-User-ID: "+spelt, "X-Account-ID: "+spelt, "X-Action: "+spelt), request("GET", tenant.path("/roles"), "", "Authorization: "+spelt, "X-API-Key: "+spelt, "User-Agent: "+spelt, "X-Request-ID: "+spelt, "X-Forwarded-For: "+spelt),
			request("POST", tenant.path("/groups"), encoded(map[string]string{"name": spelt}), bearer(tenant.adminToken)), request("POST", tenant.path("/users/invite"), encoded(map[string]string{"email": spelt}), bearer(tenant.adminToken)), request("GET", tenant.path("/roles"), "", bearer(part(`{"alg":"EdDSA","kid":`+encoded(spelt)+`}`)+"."+part(`{"iss":`+encoded(spelt)+`}`)+".AA")),
		} {
			out = append(out, attack{name: fmt.Sprintf("the text %.60q", line), raw: raw})
		}
	}
	return out
}

// searchFolders: the data folder holds no key and no token either.
func (r *refusals) searchFolders() {
	r.cases++
	dir := r.w.argument("--data-dir")
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if mark := r.w.marks.find(string(raw)); err == nil && mark != "" {
			r.fault("%s holds %s", path, mark)
		}
		return err
	})
	if err != nil {
		r.fault("%v", err)
	}
}

// argument is the value of a flag of the program.
func (p *program) argument(name string) string {
	for i, arg := range p.cmd.Args {
		if arg == name {
			return p.cmd.Args[i+1]
		}
	}
	return ""
}

// newMailServer speaks SMTP as far as a client goes that has a password: it refuses it, and says it
// back, as some servers do.
func newMailServer(t testing.TB) string {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	var group sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); group.Wait() })
	group.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			group.Go(func() { refuseMail(c) })
		}
	})
	return l.Addr().String()
}

func refuseMail(c net.Conn) {
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.WriteString(c, "220 mail.example ESMTP\r\n")
	lines := bufio.NewScanner(c)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "EHLO") {
			_, _ = io.WriteString(c, "250-mail.example\r\n250 AUTH PLAIN LOGIN\r\n")
			continue
		}
		_, _ = fmt.Fprintf(c, "535 refused: %s %s\r\n", lines.Text(), markedPassword)
	}
}
