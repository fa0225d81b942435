package overlay

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/portcullis-authz/portcullis/policies"
)

// textsFile is where Replace writes texts of reasons.
const textsFile = "authz/own_reasons.rego"

// Replace returns the files to write so that an overlay replaces a part of the base: the manifest with the part's revision,
// and a copy of the part unless the overlay has something in its place.
func Replace(base, folder *policies.Source, name string) (map[string][]byte, error) {
	part, exists := Parts(base)[name]
	if !exists {
		return nil, fmt.Errorf("the base has no part %s: a part is authz/<file>.rego, mcp/<server>/data.json, grants/<role>, routes/<row> or reason_texts/<code>", name)
	}
	raw := folder.Files[ManifestFile]
	if raw == nil {
		return nil, fmt.Errorf("the folder is not an overlay: it has no %s", ManifestFile)
	}
	m, err := parseManifest(raw)
	if err != nil {
		return nil, err
	}
	if m.Base != baseEmbedded {
		return nil, fmt.Errorf("%s: base is %q, so there is nothing to replace", ManifestFile, m.Base)
	}
	if m.Replaces == nil {
		m.Replaces = map[string]string{}
	}
	m.Replaces[name] = part.Revision
	changed := map[string][]byte{ManifestFile: m.Format()}
	x := newMerge(base, folder, m)
	if x.replacement(part) != nil {
		return changed, nil
	}
	file, text, err := x.copied(part)
	if err != nil {
		return nil, err
	}
	changed[file] = text
	return changed, nil
}

// copied returns the file of the overlay with a copy of a part in it.
func (x *merge) copied(part Part) (file string, text []byte, err error) {
	folder, name, _ := strings.Cut(part.Name, "/")
	switch folder {
	case path.Dir(grantsFile), path.Dir(routesFile):
		file = folder + "/data.json"
		rows := map[string]json.RawMessage{}
		if raw := x.files[file]; raw != nil {
			if err := json.Unmarshal(raw, &rows); err != nil {
				return "", nil, fmt.Errorf("%s: isn't a JSON object: %w", file, err)
			}
		}
		rows[name] = part.Text
		text, err = json.MarshalIndent(rows, "", "  ")
		return file, append(text, '\n'), err
	case textsFolder:
		text = x.files[textsFile]
		if text == nil {
			text = []byte("package authz\n")
		}
		return textsFile, fmt.Appendf(text, "\n%s\n", part.Text), nil
	}
	return part.Name, part.Text, nil
}
