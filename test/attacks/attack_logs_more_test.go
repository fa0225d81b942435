package attacks_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// badSettings: a program that can't start says so in one line, without the secrets of its settings.
func badSettings(w *attacksWorld, r *refusals) {
	dir := w.t.TempDir()
	key := base64.StdEncoding.EncodeToString([]byte(word(32)))
	w.marks.add("another master key", key)
	good, short := file(w.t, dir, "master.key", key+"\n"), file(w.t, dir, "short.key", key[:20]+"\n")
	broken := file(w.t, dir, "broken.key", key+"!\n")
	config := file(w.t, dir, "config.yaml", "mongo-url: mongodb://u:"+markedPassword+"@127.0.0.1:1/x\nno-such: 1\n")
	pw := markedPassword
	settings := map[string][]string{
		"mongo-url without a scheme": {"--mongo-url", "u:" + pw + "@127.0.0.1:1/x", "--master-key-file", good}, "mongo-url of another kind": {"--mongo-url", "postgres://u:" + pw + "@127.0.0.1:1/x", "--master-key-file", good}, "mongo-url with a bad port": {"--mongo-url", "mongodb://u:" + pw + "@127.0.0.1:x/x", "--master-key-file", good}, "mongo-url with bad options": {"--mongo-url", "mongodb://u:" + pw + "@127.0.0.1:1/x?w=" + pw, "--master-key-file", good},
		"mongo-url that nobody answers": {"--mongo-url", "mongodb://u:" + pw + "@127.0.0.1:1/x?serverSelectionTimeoutMS=200&connectTimeoutMS=200", "--master-key-file", good}, "mongo-url with a bad escape": {"--mongo-url", "mongodb://u:" + pw + "%zz@127.0.0.1:1/x", "--master-key-file", good}, "mongo-url without a key": {"--mongo-url", "mongodb://u:" + pw + "@127.0.0.1:1/x"},
		"redis-url alone": {"--redis-url", "redis://u:" + pw + "@127.0.0.1:1/0"}, "redis-url of another kind": {"--mongo-url", "mongodb://127.0.0.1:1/x", "--master-key-file", good, "--redis-url", "http://u:" + pw + "@127.0.0.1:1"}, "redis-url with a bad number": {"--mongo-url", "mongodb://127.0.0.1:1/x", "--master-key-file", good, "--redis-url", "redis://u:" + pw + "@127.0.0.1:1/" + pw}, "redis-url with a bad escape": {"--mongo-url", "mongodb://127.0.0.1:1/x", "--master-key-file", good, "--redis-url", "redis://u:" + pw + "%zz@127.0.0.1:1"},
		"smtp-url of another kind": {"--smtp-url", "http://u:" + pw + "@127.0.0.1:1"}, "smtp-url with a bad port": {"--smtp-url", "smtp://u:" + pw + "@127.0.0.1:x"}, "smtp-url with a bad escape": {"--smtp-url", "smtp://u:" + pw + "%zz@127.0.0.1:1"}, "smtp-url with a bad sender": {"--smtp-url", "smtp://u:" + pw + "@127.0.0.1:1?from=" + pw}, "smtp-url with more": {"--smtp-url", "smtp://u:" + pw + "@127.0.0.1:1?password=" + pw},
		"accounts-url of another kind": {"--accounts-url", "ftp://u:" + pw + "@127.0.0.1:1"}, "notifications-url with a bad escape": {"--notifications-url", "http://u:" + pw + "%zz@127.0.0.1:1"}, "upstream with a password": {"--upstream", "firewall=http://u:" + pw + "@127.0.0.1:x"}, "jwks-url with a password": {"--jwks-url", "http://u:" + pw + "%zz@127.0.0.1:1", "--jwt-issuer", "x", "--jwt-audience", "x"},
		"a short master key": {"--master-key-file", short}, "a broken master key": {"--master-key-file", broken}, "a config file with more": {"--config", config}, "an unknown flag": {"--no-such-flag"}, "a folder that is a file": {"--data-dir", good}, "an issuer without an audience": {"--jwks-file", good, "--jwt-issuer", "x"}, "a key set that is a master key": {"--jwks-file", good, "--jwt-issuer", "x", "--jwt-audience", "x"},
	}
	var group sync.WaitGroup
	for name, args := range settings {
		r.cases++
		group.Go(func() { r.badSetting(name, filepath.Join(dir, word(8)), args) })
	}
	group.Wait()
}

// badSetting starts the program with flags it must refuse. It may wait for a database without an
// answer.
func (r *refusals) badSetting(name, dir string, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
	defer cancel()
	all := append([]string{"serve", "--data-dir", dir, "--listen", "127.0.0.1:0", "--users-listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0", "--log-level", "debug"}, args...)
	cmd := exec.CommandContext(ctx, r.w.cmd.Path, all...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if cmd.Run() == nil {
		r.fault("setting %s: it ended well", name)
	}
	if mark := r.w.marks.find(out.String()); mark != "" {
		r.fault("setting %s: it shows %s: %s", name, mark, out.String())
	}
	if strings.Contains(out.String(), "goroutine ") {
		r.fault("setting %s: a panic: %.600s", name, out.String())
	}
}

// textLog: in the other format of the log a line is a line, too.
func textLog(w *attacksWorld, r *refusals) {
	dir := w.t.TempDir()
	p := start(w.t, w.cmd.Path, "--data-dir", filepath.Join(dir, "data"), "--log-format", "text")
	other := &refusals{w: &attacksWorld{program: p, t: w.t, issuer: w.issuer, marks: w.marks, tenant: w.tenant, foreign: w.foreign, checker: w.checker}}
	for _, line := range hostileText() {
		other.all(other.w.oneLine(line))
	}
	r.cases += other.cases
	r.names = append(r.names, other.names...)
	for line := range strings.Lines(p.stop()) {
		if !strings.HasPrefix(line, "time=") || strings.ContainsFunc(strings.TrimSuffix(line, "\n"), unseen) {
			r.fault("no whole line of the text log: %.300q", line)
		}
		if mark := w.marks.find(line); mark != "" {
			r.fault("the text log shows %s: %.300s", mark, line)
		}
	}
}
