package bundles_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/bundles"
	"github.com/portcullis-authz/portcullis/test/must"
)

// unsigned is the least that is a bundle; the revision tells them apart.
func unsigned(t *testing.T, revision string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for name, text := range map[string]string{
		"/.manifest": `{"revision": "` + revision + `", "roots": [""]}`, "/data.json": `{"grants": {}, "routes": {}}`,
		"/policies/authz/authz.rego": "package authz\n",
	} {
		must.Do(t, w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(text)), Mode: 0o600}))
		must.Get(io.WriteString(w, text))(t)
	}
	must.Do(t, errors.Join(w.Close(), zipped.Close()))
	return out.Bytes()
}

// source is a server of one bundle; what it answers can be changed.
type source struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	body   []byte
	etag   string
	// asked are the ETags of the requests.
	asked []string
}

func newSource(t *testing.T, body []byte) *source {
	t.Helper()
	s := &source{}
	s.set(http.StatusOK, body, `"1"`)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		asked := r.Header.Get("If-None-Match")
		s.asked = append(s.asked, asked)
		w.Header().Set("ETag", s.etag)
		if asked == s.etag && s.status == http.StatusOK {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.WriteHeader(s.status)
		_, _ = w.Write(s.body)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *source) set(status int, body []byte, etag string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.body, s.etag = status, body, etag
}

// taker is a policy that takes every tree but those of the revision "bad".
type taker struct{ taken, refused chan string }

func newTaker() taker { return taker{make(chan string, 10), make(chan string, 10)} }

func (p taker) Take(_ context.Context, src *policies.Source) error {
	if src.Bundle == "bad" {
		p.refused <- src.Bundle
		return errors.New("refused: " + src.Bundle)
	}
	p.taken <- src.Bundle
	return nil
}

func (p taker) Refuse(err error) error {
	p.refused <- err.Error()
	return err
}

func newFeed(t *testing.T, source, dir string) (*bundles.Feed, chan string, *bytes.Buffer) {
	t.Helper()
	results, log := make(chan string, 100), &bytes.Buffer{}
	return bundles.NewFeed(bundles.FeedConfig{
		From: source, Dir: dir, Poll: time.Millisecond, Observe: func(r string) { results <- r }, Log: slog.New(slog.NewTextHandler(log, nil)),
	}), results, log
}

func start(t *testing.T, f *bundles.Feed) (revision string, refused, err error) {
	t.Helper()
	refused, err = f.Start(t.Context(), func(src *policies.Source) error {
		revision = src.Bundle
		if src.Bundle == "bad" {
			return errors.New("refused: bad")
		}
		return nil
	})
	return revision, refused, err
}

// next is the next result that is not the one to be left out.
func next(results chan string, but string) string {
	for r := range results {
		if r != but {
			return r
		}
	}
	return ""
}

// TestAFeedFollowsItsSource guarantees that a feed takes a new bundle and does not fetch it twice. A bad bundle, a
// file of another kind and a failing source keep the tree in force.
func TestAFeedFollowsItsSource(t *testing.T) {
	s, dir, policy := newSource(t, unsigned(t, "v1")), t.TempDir(), newTaker()
	f, results, log := newFeed(t, s.URL+"/b.tar.gz", dir)
	if revision, refused, err := start(t, f); revision != "v1" || refused != nil || err != nil {
		t.Fatal(revision, refused, err)
	}
	f.Started()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- f.Follow(ctx, policy, nil) }()
	if got := <-results; got != bundles.ResultUnchanged {
		t.Errorf("%s of the bundle that is in force", got)
	}
	s.set(http.StatusOK, unsigned(t, "v2"), `"2"`)
	if got := next(results, bundles.ResultUnchanged); got != bundles.ResultTaken || <-policy.taken != "v2" {
		t.Errorf("%s of a new one", got)
	}
	s.set(http.StatusOK, unsigned(t, "bad"), `"3"`)
	if got := next(results, bundles.ResultUnchanged); got != bundles.ResultRefused || <-policy.refused != "bad" {
		t.Errorf("%s of a bad one", got)
	}
	s.set(http.StatusOK, []byte("no bundle"), `"4"`)
	if got := next(results, bundles.ResultUnchanged); got != bundles.ResultRefused || !strings.Contains(<-policy.refused, "is not a bundle") {
		t.Errorf("%s of no bundle", got)
	}
	s.set(http.StatusBadGateway, nil, "")
	if got := next(results, bundles.ResultUnchanged); got != bundles.ResultFailed {
		t.Errorf("%s of a source that fails", got)
	}
	s.set(http.StatusOK, unsigned(t, "v3"), `"5"`)
	if got := next(results, bundles.ResultFailed); got != bundles.ResultTaken || <-policy.taken != "v3" {
		t.Errorf("%s once it answers again", got)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, line := range []string{"can't be had; the tree in force stays", "can be had again"} {
		if strings.Count(log.String(), line) != 1 {
			t.Errorf("the log does not say %q once:\n%s", line, log)
		}
	}
	s.Close()
	again, _, _ := newFeed(t, s.URL+"/b.tar.gz", dir)
	if revision, _, err := start(t, again); revision != "v3" || err != nil {
		t.Errorf("started with %q without the source: %v", revision, err)
	}
	other, _, _ := newFeed(t, s.URL+"/other.tar.gz", dir)
	if revision, _, err := start(t, other); err == nil {
		t.Errorf("started with %q of another source", revision)
	}
}

// TestAStartTakesTheLastGoodBundle where the newest is refused, and says so; a bundle is not kept before the gateway
// has started with it.
func TestAStartTakesTheLastGoodBundle(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "b.tar.gz"), t.TempDir()
	put := func(revision string) *bundles.Feed {
		must.Do(t, os.WriteFile(file, unsigned(t, revision), 0o600))
		f, _, _ := newFeed(t, file, dir)
		return f
	}
	if _, _, err := start(t, put("bad")); err == nil || !strings.Contains(err.Error(), "no last good one") {
		t.Errorf("started with nothing: %v", err)
	}
	if _, _, err := start(t, put("v1")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := start(t, put("bad")); err == nil {
		t.Error("a bundle was kept before the gateway had started with it")
	}
	good := put("v1")
	if _, _, err := start(t, good); err != nil {
		t.Fatal(err)
	}
	good.Started()
	if revision, refused, err := start(t, put("bad")); revision != "v1" || refused == nil || err != nil {
		t.Errorf("started with %q, refused %v: %v", revision, refused, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v: %v", entries, err)
	}
	if info, err := entries[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the kept bundle is %v: %v", info.Mode(), err)
	}
}

// TestAnOutageOverAStartIsReportedOnce guarantees one line about a source that fails at the start and at the polls behind it,
// and one about its end.
func TestAnOutageOverAStartIsReportedOnce(t *testing.T) {
	s, dir := newSource(t, unsigned(t, "v1")), t.TempDir()
	before, _, _ := newFeed(t, s.URL+"/b.tar.gz", dir)
	if _, _, err := start(t, before); err != nil {
		t.Fatal(err)
	}
	before.Started()
	s.set(http.StatusBadGateway, nil, "")
	f, results, log := newFeed(t, s.URL+"/b.tar.gz", dir)
	if revision, _, err := start(t, f); revision != "v1" || err != nil {
		t.Fatal(revision, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- f.Follow(ctx, newTaker(), nil) }()
	if got := <-results; got != bundles.ResultFailed {
		t.Errorf("%s of a source that fails", got)
	}
	s.set(http.StatusOK, unsigned(t, "v1"), `"2"`)
	next(results, bundles.ResultFailed)
	stop()
	<-ended
	if text := log.String(); strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, "can't be had; the last good one is in force") || strings.Count(text, "can be had again") != 1 {
		t.Errorf("the log: %s", text)
	}
}

// TestABundleIsKeptOnceItCanBe guarantees that a feed keeps the bundle in force as soon as the data folder takes it, also if
// the source has no other one and fails by then. The log says so once.
func TestABundleIsKeptOnceItCanBe(t *testing.T) {
	s, policy := newSource(t, unsigned(t, "v1")), newTaker()
	dir := filepath.Join(t.TempDir(), "data")
	must.Do(t, os.WriteFile(dir, nil, 0o600)) // a file, in which nothing can be kept
	f, results, log := newFeed(t, s.URL+"/b.tar.gz", dir)
	if revision, _, err := start(t, f); revision != "v1" || err != nil {
		t.Fatal(revision, err)
	}
	f.Started()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- f.Follow(ctx, policy, nil) }()
	s.set(http.StatusOK, unsigned(t, "v2"), `"2"`)
	if got := next(results, bundles.ResultUnchanged); got != bundles.ResultTaken {
		t.Errorf("%s of a new one", got)
	}
	s.set(http.StatusBadGateway, nil, "")
	must.Do(t, os.Remove(dir))
	for range 2 { // the first of them may have begun before
		next(results, "")
		next(results, bundles.ResultUnchanged)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	again, _, _ := newFeed(t, s.URL+"/b.tar.gz", dir)
	if revision, _, err := start(t, again); revision != "v2" || err != nil {
		t.Errorf("started with %q without the source: %v", revision, err)
	}
	for _, line := range []string{"can't be kept", "is kept now"} {
		if strings.Count(log.String(), line) != 1 {
			t.Errorf("the log does not say %q once:\n%s", line, log)
		}
	}
}

// TestABundleThatCameInPartIsFetchedAgain after a start with the last good one: its ETag is that of the whole bundle.
func TestABundleThatCameInPartIsFetchedAgain(t *testing.T) {
	s, dir, policy := newSource(t, unsigned(t, "v1")), t.TempDir(), newTaker()
	first, _, _ := newFeed(t, s.URL, dir)
	if _, _, err := start(t, first); err != nil {
		t.Fatal(err)
	}
	first.Started()
	whole := unsigned(t, "v2")
	s.set(http.StatusOK, whole[:len(whole)/2], `"2"`)
	f, results, _ := newFeed(t, s.URL, dir)
	if revision, refused, err := start(t, f); revision != "v1" || refused == nil || err != nil {
		t.Fatal(revision, refused, err)
	}
	s.set(http.StatusOK, whole, `"2"`)
	go func() { _ = f.Follow(t.Context(), policy, nil) }()
	if got := <-results; got != bundles.ResultTaken || <-policy.taken != "v2" {
		t.Errorf("%s of the whole bundle", got)
	}
}

// TestASignalHasARefusedBundleJudgedAgain, as it has a folder: what refused it may be mended elsewhere.
func TestASignalHasARefusedBundleJudgedAgain(t *testing.T) {
	s, policy, now := newSource(t, unsigned(t, "v1")), newTaker(), make(chan os.Signal)
	f, results, _ := newFeed(t, s.URL, t.TempDir())
	f.Poll = time.Hour
	if _, _, err := start(t, f); err != nil {
		t.Fatal(err)
	}
	go func() { _ = f.Follow(t.Context(), policy, now) }()
	now <- syscall.SIGHUP
	if got := <-results; got != bundles.ResultUnchanged {
		t.Errorf("%s of the bundle that is in force", got)
	}
	s.set(http.StatusOK, unsigned(t, "bad"), `"2"`)
	for range 2 {
		now <- syscall.SIGHUP
		if got := <-results; got != bundles.ResultRefused || <-policy.refused != "bad" {
			t.Errorf("%s of a bad one", got)
		}
	}
}

// TestOnlySafeSources: nobody on the way can give another policy.
func TestOnlySafeSources(t *testing.T) {
	for source, safe := range map[string]bool{
		"https://policies.example/b.tar.gz": true, "http://127.0.0.1:80/b": true, "http://[::1]/b": true, "http://localhost/b": true,
		"http://policies.example/b": false, "https://user:word@policies.example/b": false, "https:///b": false, "http://127.0.0.1.example/b": false,
		"https://policies.example:x/b?token=secret": false, "htps://policies.example/b": false,
	} {
		if err := bundles.CheckURL(source); !bundles.IsURL(source) || (err == nil) != safe {
			t.Errorf("%s is a URL: %t, %v", source, bundles.IsURL(source), err)
		}
	}
	s := newSource(t, nil)
	away := httptest.NewServer(http.RedirectHandler("http://policies.example/b", http.StatusFound))
	t.Cleanup(away.Close)
	f, _, _ := newFeed(t, away.URL, t.TempDir())
	if _, _, err := start(t, f); err == nil || !strings.Contains(err.Error(), "must be https") {
		t.Errorf("followed a redirect to plain HTTP: %v", err)
	}
	back := httptest.NewServer(http.RedirectHandler(s.URL, http.StatusFound))
	t.Cleanup(back.Close)
	s.set(http.StatusOK, unsigned(t, "v1"), `"1"`)
	f, _, _ = newFeed(t, back.URL, t.TempDir())
	if revision, _, err := start(t, f); revision != "v1" || err != nil {
		t.Error(revision, err)
	}
}

// TestTheQueryIsNotTold: with it, somebody else could fetch the bundle.
func TestTheQueryIsNotTold(t *testing.T) {
	s, dir := newSource(t, unsigned(t, "v1")), t.TempDir()
	const secret = "signed-by-the-store"
	away := httptest.NewServer(http.RedirectHandler("http://policies.example/b?sig="+secret, http.StatusFound))
	t.Cleanup(away.Close)
	said := ""
	for _, source := range []string{s.URL, away.URL} {
		f, results, log := newFeed(t, source+"/b?sig="+secret, dir)
		if source == s.URL {
			if _, _, err := start(t, f); err != nil {
				t.Fatal(err)
			}
			f.Started()
			s.set(http.StatusBadGateway, nil, "")
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- f.Follow(ctx, newTaker(), nil) }()
		next(results, bundles.ResultUnchanged)
		stop()
		<-ended
		said += log.String()
	}
	s.Close()
	f, _, log := newFeed(t, s.URL+"/b?sig="+secret, dir)
	if _, _, err := start(t, f); err != nil { // with the last good one
		t.Fatal(err)
	}
	said += log.String()
	f, _, _ = newFeed(t, s.URL+"/b?sig="+secret, t.TempDir())
	_, _, err := start(t, f)
	said += err.Error()
	for _, want := range []string{"502 Bad Gateway", "redirected to http://policies.example/b:", "refused", "no last good one"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
	if strings.Contains(said, secret) {
		t.Errorf("the query is told: %s", said)
	}
}
