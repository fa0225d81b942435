package apidoc

import (
	"context"
	"fmt"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// Service holds the document and its page and serves them.
type Service struct {
	document, page wire.File
	assets         map[string]wire.File
}

// New reads the document and the page. An error is a mistake in the files of this package.
func New() (*Service, error) {
	document, err := Document()
	if err != nil {
		return nil, fmt.Errorf("apidoc: %w", err)
	}
	assets, err := files()
	if err != nil {
		return nil, fmt.Errorf("apidoc: %w", err)
	}
	index, err := page.ReadFile("page/index.html")
	if err != nil {
		return nil, fmt.Errorf("apidoc: %w", err)
	}
	return &Service{
		document: wire.File{ContentType: "application/json", Content: document},
		page:     wire.File{ContentType: "text/html; charset=utf-8", Content: index},
		assets:   assets,
	}, nil
}

// Routes returns the handlers of openapi.get, docs.get and docs.asset (N13).
func (s *Service) Routes() wire.Routes {
	return wire.Named("apidoc", wire.Routes{
		"openapi.get": func(_ context.Context, r *wire.Request) (wire.Response, error) { return send(r, s.document) },
		"docs.get":    func(_ context.Context, r *wire.Request) (wire.Response, error) { return send(r, s.page) },
		"docs.asset":  s.asset,
	})
}

// asset answers docs.asset (N13).
func (s *Service) asset(_ context.Context, r *wire.Request) (wire.Response, error) {
	file, ok := s.assets[r.Params["asset"]]
	if !ok {
		return wire.Response{}, resources.NotFound("file")
	}
	return send(r, file)
}

// send returns the response with a file, for a request without query and body.
func send(r *wire.Request, file wire.File) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	return wire.Response{Status: 200, File: &file}, nil
}
