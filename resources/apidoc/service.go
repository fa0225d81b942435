package apidoc

import (
	"context"
	"fmt"
	"sync"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Service serves the document and its page.
type Service struct {
	// read makes them when the first of them is asked for; to make them takes a tenth of a gateway's start.
	read func() (*files, error)
}

// files are the document, the page, and what the page loads, by name.
type files struct {
	document, page wire.File
	assets         map[string]wire.File
}

// New returns the service. It answers 500 after a mistake in the files of this package.
func New() *Service { return &Service{read: sync.OnceValues(readFiles)} }

// readFiles makes the document and the page with what it loads.
func readFiles() (*files, error) {
	document, err := Document()
	if err != nil {
		return nil, fmt.Errorf("apidoc: %w", err)
	}
	assets, err := readAssets()
	if err != nil {
		return nil, fmt.Errorf("apidoc: %w", err)
	}
	index, err := page.ReadFile("page/index.html")
	if err != nil {
		return nil, fmt.Errorf("apidoc: %w", err)
	}
	return &files{
		document: wire.File{ContentType: "application/json", Content: document},
		page:     wire.File{ContentType: "text/html; charset=utf-8", Content: index},
		assets:   assets,
	}, nil
}

// Routes returns the handlers of openapi.get, docs.get and docs.asset (N13).
func (s *Service) Routes() wire.Routes {
	return wire.Named("apidoc", wire.Routes{
		"openapi.get": s.send(func(f *files, _ string) (wire.File, bool) { return f.document, true }),
		"docs.get":    s.send(func(f *files, _ string) (wire.File, bool) { return f.page, true }),
		"docs.asset": s.send(func(f *files, asset string) (wire.File, bool) {
			file, ok := f.assets[asset]
			return file, ok
		}),
	})
}

// send returns the handler of one file, for requests without query and body.
func (s *Service) send(pick func(f *files, asset string) (wire.File, bool)) wire.Handler {
	return func(_ context.Context, r *wire.Request) (wire.Response, error) {
		all, err := s.read()
		if err != nil {
			return wire.Response{}, err
		}
		file, ok := pick(all, r.Params["asset"])
		if !ok {
			return wire.Response{}, resources.NotFound("file")
		}
		if err := r.Bare(); err != nil {
			return wire.Response{}, err
		}
		return wire.Response{Status: 200, File: &file}, nil
	}
}
