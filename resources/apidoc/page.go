package apidoc

import (
	"compress/gzip"
	"embed"
	"fmt"
	"io"

	viewer "github.com/swaggest/swgui/v5/static"

	"github.com/portcullis-authz/portcullis/resources/wire"
)

//go:embed page
var own embed.FS

// asset is a file of the page: where its content comes from, and what it is.
type asset struct{ name, from, kind string }

// assets are what the page loads. The viewer's are kept compressed in its module.
func assets() []asset {
	return []asset{
		{"start.js", "page/start.js", "text/javascript"},
		{"start.css", "page/start.css", "text/css"},
		{"swagger-ui-bundle.js", "swagger-ui-bundle.js.gz", "text/javascript"},
		{"swagger-ui.css", "swagger-ui.css.gz", "text/css"},
		{"favicon-32x32.png", "favicon-32x32.png", "image/png"},
	}
}

// files reads the page's files once: unpacking them for each request would be work
// that anybody could ask for.
func files() (map[string]wire.File, error) {
	out := map[string]wire.File{}
	for _, a := range assets() {
		content, err := read(a.from)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
		out[a.name] = wire.File{ContentType: a.kind, Content: content}
	}
	return out, nil
}

func read(from string) ([]byte, error) {
	if content, err := own.ReadFile(from); err == nil {
		return content, nil
	}
	packed, err := viewer.FS.Open(from)
	if err != nil {
		return nil, err
	}
	defer func() { _ = packed.Close() }() // it is memory
	if from[len(from)-3:] != ".gz" {
		return io.ReadAll(packed)
	}
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unpacked)
}
