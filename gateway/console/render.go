package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

//go:embed all:templates assets
var files embed.FS

// assetPath is the path of the assets. The name of an asset contains a hash of its content.
const assetPath = "/assets/"

// assets holds the style sheet, the script and the icon by their hashed names.
type assets struct {
	named map[string]string // name to hashed name
	files map[string]asset
}

type asset struct {
	kind    string
	content []byte
}

// readAssets reads the embedded files. It joins the files of assets/style, sorted by name, into one style sheet.
func readAssets() (*assets, error) {
	a := &assets{named: map[string]string{}, files: map[string]asset{}}
	var style []byte
	for _, one := range []struct {
		pattern string
		add     func(name string, content []byte)
	}{
		{"assets/style/*.css", func(_ string, content []byte) { style = append(style, content...) }},
		{"assets/*.js", func(name string, content []byte) { a.add(name, "text/javascript; charset=utf-8", content) }},
		{"assets/*.svg", func(name string, content []byte) { a.add(name, "image/svg+xml", content) }},
	} {
		names, err := fs.Glob(files, one.pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			content, err := files.ReadFile(name)
			if err != nil {
				return nil, err
			}
			one.add(path.Base(name), content)
		}
	}
	a.add("console.css", "text/css; charset=utf-8", style)
	return a, nil
}

// add stores a file under a hash of its content.
func (a *assets) add(name, kind string, content []byte) {
	sum := sha256.Sum256(content)
	hashed := strings.TrimSuffix(name, path.Ext(name)) + "." + hex.EncodeToString(sum[:8]) + path.Ext(name)
	a.named[name], a.files[hashed] = assetPath+hashed, asset{kind, content}
}

// serve returns an asset. Browsers cache it forever, since changed content gets another name.
func (a *assets) serve(w http.ResponseWriter, r *http.Request) {
	file, ok := a.files[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", file.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file.content))
}

// templates holds the pages by name, each parsed with the layout.
type templates struct {
	pages map[string]*template.Template
	log   *slog.Logger
}

// readTemplates parses the embedded templates. All pages include the files with names that begin with _.
func readTemplates(a *assets, log *slog.Logger) (*templates, error) {
	base := template.New("").Funcs(template.FuncMap{
		"asset": func(name string) (string, error) {
			if hashed, ok := a.named[name]; ok {
				return hashed, nil
			}
			return "", fmt.Errorf("no asset %s", name)
		},
		"moment": momentOf, "count": countOf, "sentence": sentence, "isoTime": func(t resources.Time) string { return t.String() },
		"map": mapOf, "list": func(all ...any) []any { return all },
		"menu": menu, "link": linkOf, "sourceLink": sourceLink, "state": stateOf, "lower": strings.ToLower, "parts": partsOf, "ports": ports, "join": strings.Join,
	})
	base, err := base.ParseFS(files, "templates/_*.html")
	if err != nil {
		return nil, err
	}
	t := &templates{pages: map[string]*template.Template{}, log: log}
	names, err := fs.Glob(files, "templates/[a-z]*.html")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		one, err := base.Clone()
		if err == nil {
			one, err = one.ParseFS(files, name)
		}
		if err != nil {
			return nil, err
		}
		t.pages[strings.TrimSuffix(path.Base(name), ".html")] = one
	}
	return t, nil
}

// entry is a page in the menu. Pressing g and Key opens it.
type entry struct{ Name, Path, Key string }

// menu returns the pages in the menu.
func menu() []entry {
	return []entry{
		{"Overview", "/", "o"},
		{"Ask", "/ask", "a"},
		{"Who can", "/who", "w"},
		{"People", "/people", "p"},
		{"Decisions", "/decisions", "d"},
		{"Changes", "/changes", "c"},
		{"Policy", "/policy", "y"},
		{"Platform", "/platform", "l"},
	}
}

// render returns a page. It returns 500, and no part of the page, if the template fails.
func (t *templates) render(w http.ResponseWriter, status int, name string, v view) {
	var out bytes.Buffer
	if err := t.pages[name].ExecuteTemplate(&out, "layout", v); err != nil {
		t.log.Error("a page of the console can't be rendered", "page", name, "request_id", w.Header().Get("X-Request-ID"), "error", err.Error())
		http.Error(w, "The page can't be shown.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // fails only if the client has gone
}

// momentOf formats a time for people, in UTC.
func momentOf(t resources.Time) string {
	if t == 0 {
		return ""
	}
	return time.UnixMilli(int64(t)).UTC().Format("2 Jan 2006, 15:04:05 UTC")
}

// countOf formats a number with thousands separators.
func countOf(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// mapOf makes a map from names and values, as the data of a nested template.
func mapOf(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("map: %d arguments are not pairs", len(pairs))
	}
	out := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("map: %v is not a name", pairs[i])
		}
		out[name] = pairs[i+1]
	}
	return out, nil
}
