package own

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/portcullis-authz/portcullis/gateway/doors/mcp"
)

var errNoHead = errors.New("mcp: the own server has no answer")

// respond has the handler answer the request in this process. The answer's body is read while the handler writes it, and
// the handler ends with the request's context.
func respond(handler http.Handler, r *http.Request, log *slog.Logger) (*mcp.Incoming, error) {
	reader, writer := io.Pipe()
	w := &response{header: http.Header{}, pipe: writer, began: make(chan struct{})}
	go func() {
		err := errNoHead
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("mcp: panic: %v", p)
				log.Error("mcp: panic in the own server", "error", fmt.Sprint(p), "stack", string(debug.Stack()))
			}
			w.end(err)
		}()
		handler.ServeHTTP(w, r)
		err = nil
	}()
	select {
	case <-w.began:
	case <-r.Context().Done():
		_ = reader.Close() // the handler's writes fail from here on
		return nil, r.Context().Err()
	}
	if w.failed != nil {
		return nil, w.failed
	}
	return &mcp.Incoming{Status: w.status, Header: w.sent, Body: reader}, nil
}

// response implements http.ResponseWriter over a pipe.
type response struct {
	header http.Header
	pipe   *io.PipeWriter
	once   sync.Once
	// began is closed when the head is there: status and sent, or failed without one.
	began  chan struct{}
	status int
	sent   http.Header
	failed error
}

// Header implements http.ResponseWriter.
func (w *response) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *response) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.began)
	})
}

// Write implements io.Writer.
func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.pipe.Write(p)
}

// Flush implements http.Flusher: nothing is held back but the head.
func (w *response) Flush() { w.WriteHeader(http.StatusOK) }

// end ends the answer; err is nil for a whole one.
func (w *response) end(err error) {
	w.once.Do(func() {
		w.status, w.sent, w.failed = http.StatusOK, w.header.Clone(), err
		close(w.began)
	})
	_ = w.pipe.CloseWithError(err) // it never fails
}
