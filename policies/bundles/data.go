package bundles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/open-policy-agent/opa/v1/bundle"
)

const (
	dataFile = "data.json"
	// apps, mcp and tools have a document for each app and MCP server, schemas what the binary has itself.
	apps    = "apps"
	mcp     = "mcp"
	tools   = "tools"
	schemas = "schemas"
	// manifestMember is the document that has the manifest of an overlay: OPA's reader leaves files of other names out.
	manifestMember = "policy"
)

// addData adds the data as the documents of a tree, by its path in `data`.
func addData(files map[string][]byte, all []bundle.Raw) error {
	for _, raw := range all {
		name := strings.TrimPrefix(raw.Path, "/")
		var err error
		switch path.Base(name) {
		case dataFile:
			err = addDocument(files, path.Dir(name), raw.Value)
		case "data.yaml", "data.yml":
			err = errors.New("is YAML: opa build -b makes JSON of it")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// addDocument adds what stands in `data` at a folder: in one document, or, at the root, for apps, for MCP servers and for
// their rules, in one for each member.
func addDocument(files map[string][]byte, folder string, value []byte) error {
	if folder == schemas || strings.HasPrefix(folder, schemas+"/") {
		return nil
	}
	if folder == "." || folder == apps || folder == mcp || folder == tools {
		return eachMember(value, func(name string, member json.RawMessage) error {
			if strings.Contains(name, "/") {
				return fmt.Errorf("%q can't be the name of a folder, as names in data are: take another one", name)
			}
			if folder == "." && member[0] != '{' && name != manifestMember {
				return addValue(files, name, member)
			}
			return addDocument(files, strings.TrimPrefix(folder+"/"+name, "./"), member)
		})
	}
	if err := checkName(folder); err != nil {
		return err
	}
	name := path.Join(folder, dataFile)
	if files[name] != nil {
		return fmt.Errorf("%s is there already: put the data of a folder into one document", name)
	}
	files[name] = value
	return nil
}

// addValue adds a member of `data` to the document of the root. Its value is not an object, so it has no folder.
func addValue(files map[string][]byte, name string, value json.RawMessage) (err error) {
	all := map[string]json.RawMessage{name: value}
	if root := files[dataFile]; root != nil {
		if err := json.Unmarshal(root, &all); err != nil {
			return err
		}
	}
	files[dataFile], err = json.Marshal(all)
	return err
}

// eachMember calls each for the members of an object, and refuses one that is given twice.
func eachMember(object []byte, each func(name string, value json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(object))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return errors.New("isn't a JSON object")
	}
	seen := map[string]bool{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return fmt.Errorf("isn't a JSON object: %w", err)
		}
		name, _ := key.(string) // as every key is
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return fmt.Errorf("isn't a JSON object: %w", err)
		}
		if seen[name] {
			return fmt.Errorf("%q is given twice: leave one out", name)
		}
		seen[name] = true
		if err := each(name, value); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("isn't a JSON object: %w", err)
	}
	if dec.InputOffset() != int64(len(bytes.TrimRight(object, " \t\r\n"))) {
		return errors.New("there is more after the JSON object")
	}
	return nil
}
