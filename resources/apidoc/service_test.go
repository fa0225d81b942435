package apidoc_test

import (
	"context"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/apidoc"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// TestFilesAreSentAsTheyAre checks that the document, the page and its files are sent unpacked and with
// their content types.
func TestFilesAreSentAsTheyAre(t *testing.T) {
	for _, tc := range []struct{ route, asset, kind, begin string }{
		{"openapi.get", "", "application/json", `{"openapi":"3.1.0",`},
		{"docs.get", "", "text/html; charset=utf-8", "<!DOCTYPE html>"},
		{"docs.asset", "start.js", "text/javascript", "//"},
		{"docs.asset", "start.css", "text/css", "body"},
		{"docs.asset", "swagger-ui-bundle.js", "text/javascript", "/*! For license"},
		{"docs.asset", "swagger-ui.css", "text/css", ".swagger-ui"},
		{"docs.asset", "favicon-32x32.png", "image/png", "\x89PNG"},
	} {
		got, err := apidoc.New().Routes()[tc.route](context.Background(), &wire.Request{Params: map[string]string{"asset": tc.asset}})
		if err != nil || got.Status != 200 || got.File == nil || got.File.ContentType != tc.kind || !strings.HasPrefix(string(got.File.Content), tc.begin) {
			t.Errorf("%s %s: %v, %d", tc.route, tc.asset, err, got.Status)
		}
	}
}

// TestNothingElseIsServed checks 404 for another file and 400 for a query or a body.
func TestNothingElseIsServed(t *testing.T) {
	for name, tc := range map[string]struct {
		route string
		r     wire.Request
		want  resources.Kind
	}{
		"404 another file":       {"docs.asset", wire.Request{Params: map[string]string{"asset": "index.html"}}, resources.KindNotFound},
		"404 packed":             {"docs.asset", wire.Request{Params: map[string]string{"asset": "swagger-ui.css.gz"}}, resources.KindNotFound},
		"400 a query":            {"docs.get", wire.Request{Query: "x=1"}, resources.KindBadRequest},
		"400 a query, a file":    {"docs.asset", wire.Request{Params: map[string]string{"asset": "start.js"}, Query: "x=1"}, resources.KindBadRequest},
		"400 a body":             {"openapi.get", wire.Request{Body: []byte(`{"a":1}`)}, resources.KindBadRequest},
		"400 what is no JSON":    {"docs.get", wire.Request{Body: []byte(`x`)}, resources.KindBadRequest},
		"400 a document's query": {"openapi.get", wire.Request{Query: "pretty"}, resources.KindBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := apidoc.New().Routes()[tc.route](context.Background(), &tc.r); !resources.IsKind(err, tc.want) {
				t.Errorf("%d, %v", got.Status, err)
			}
		})
	}
}
