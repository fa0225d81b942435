package bundles

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

const (
	// fetchWithin bounds one poll.
	fetchWithin = 30 * time.Second
	// maxRedirects is how often the source may send the gateway elsewhere.
	maxRedirects = 3
)

// IsURL says whether a source is a URL, also one that CheckURL refuses, and no file.
func IsURL(source string) bool { return strings.Contains(source, "://") }

// CheckURL refuses a URL over which somebody else could give another tree: http beyond this machine. The error is the
// remedy.
func CheckURL(source string) error {
	u, err := url.Parse(source)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "":
		return errors.New("must be a file, or https://host/path without a user and a fragment")
	case u.Scheme == "https" || u.Scheme == "http" && resources.IsLoopback(u.Hostname()):
		return nil
	}
	return errors.New("must be https, or http on this machine: anybody on the way could give another policy")
}

// shown returns a source for the log and for errors: a URL without its query, which may be a secret.
func shown(source string) string {
	if !IsURL(source) {
		return source
	}
	address, _, _ := strings.Cut(source, "?")
	return address
}

func newClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // the bundle is compressed, and its size is bounded as it is sent
	return &http.Client{Timeout: fetchWithin, Transport: transport, CheckRedirect: checkRedirect}
}

func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	if err := CheckURL(req.URL.String()); err != nil {
		return fmt.Errorf("redirected to %s: %w", shown(req.URL.String()), err)
	}
	return nil
}

// fetch returns the bundle at the source; nil if it is the last judged one.
func (f *Feed) fetch(ctx context.Context) ([]byte, error) {
	raw, etag, err := f.read(ctx)
	if err != nil || raw == nil {
		return nil, err
	}
	f.etag = etag
	sum := sha256.Sum256(raw)
	if sum == f.seen {
		return nil, nil
	}
	f.seen = sum
	return raw, nil
}

// read returns the source's content with its ETag; nil if the server answers 304 Not Modified.
func (f *Feed) read(ctx context.Context) (raw []byte, etag string, err error) {
	if !IsURL(f.From) {
		raw, err = ReadFile(f.From)
		return raw, "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.From, http.NoBody)
	if err != nil {
		return nil, "", err
	}
	if f.etag != "" {
		req.Header.Set("If-None-Match", f.etag)
	}
	resp, err := f.Client.Do(req)
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // leaves out the URL with its query
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", shown(f.From), err)
	}
	defer func() {
		_, _ = io.CopyN(io.Discard, resp.Body, 1<<10) // so that the connection is used again
		_ = resp.Body.Close()
	}()
	switch {
	case resp.StatusCode == http.StatusNotModified && f.etag != "":
		return nil, "", nil
	case resp.StatusCode != http.StatusOK:
		return nil, "", fmt.Errorf("%s answers %s", shown(f.From), resp.Status)
	}
	raw, err = Limited(resp.Body)
	return raw, resp.Header.Get("ETag"), err
}
