package apidoc

import (
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"strings"

	viewer "github.com/swaggest/swgui/v5/static"

	"github.com/portcullis-authz/portcullis/resources/wire"
)

//go:embed page
var page embed.FS

// asset is a file of the page. from names its content, in this package or in the viewer.
type asset struct{ name, source, contentType string }

// assets returns the files of the page.
func assets() []asset {
	return []asset{
		{"start.js", "page/start.js", "text/javascript"},
		{"start.css", "page/start.css", "text/css"},
		{"swagger-ui-bundle.js", "swagger-ui-bundle.js.gz", "text/javascript"},
		{"swagger-ui.css", "swagger-ui.css.gz", "text/css"},
		{"favicon-32x32.png", "favicon-32x32.png", "image/png"},
	}
}

// readAssets reads and unpacks the files of the page, by name.
func readAssets() (map[string]wire.File, error) {
	out := map[string]wire.File{}
	for _, a := range assets() {
		content, err := read(a.source)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
		out[a.name] = wire.File{ContentType: a.contentType, Content: content}
	}
	return out, nil
}

// read reads a file of the page or of the viewer; the viewer's may be compressed.
func read(source string) ([]byte, error) {
	if content, err := page.ReadFile(source); err == nil {
		return content, nil
	}
	packed, err := viewer.FS.Open(source)
	if err != nil {
		return nil, err
	}
	defer func() { _ = packed.Close() }() // a file in memory closes without error
	if !strings.HasSuffix(source, ".gz") {
		return io.ReadAll(packed)
	}
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unpacked)
}
