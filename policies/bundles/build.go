package bundles

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/overlay"
)

// Build returns a bundle of a policy folder as it lies: of an overlay its own files alone, with its manifest as
// data.policy. With a private key in PEM, RSA or ECDSA, it is signed; nil signs nothing. Open reads it. Build rejects
// a folder without a tree, files without a place in a bundle, and all that Open refuses.
func Build(folder *policies.Source, revision string, signingKey []byte) ([]byte, error) {
	if _, err := overlay.Over(folder); err != nil {
		return nil, err
	}
	if err := checkRevision(revision); err != nil {
		return nil, err
	}
	b := bundle.Bundle{Manifest: bundle.Manifest{Revision: revision, Roots: &[]string{""}}, Data: map[string]any{}}
	for _, name := range folder.Names {
		text := folder.Files[name]
		switch {
		case strings.HasSuffix(name, ".rego"):
			b.Modules = append(b.Modules, bundle.ModuleFile{URL: "/" + name, Path: "/" + name, Raw: text})
		case name == overlay.ManifestFile, strings.HasPrefix(name, schemas+"/"): // schemas are the program's
		case path.Base(name) == dataFile:
			if err := put(b.Data, strings.TrimPrefix(path.Dir(name), "."), text); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		default:
			return nil, fmt.Errorf("%s: isn't read: data belongs in a file named %s", name, dataFile)
		}
	}
	if err := putManifest(b.Data, folder.Files[overlay.ManifestFile]); err != nil {
		return nil, err
	}
	raw, err := written(&b)
	if err == nil {
		_, err = Open(raw, nil)
	}
	if err != nil || signingKey == nil {
		return raw, err
	}
	algorithm, err := algorithmOfPrivate(signingKey)
	if err == nil {
		err = b.GenerateSignature(bundle.NewSigningConfig(string(signingKey), algorithm, ""), keyID, true)
	}
	if err != nil {
		return nil, fmt.Errorf("--signing-key: %w", err)
	}
	return written(&b)
}

// written returns the archive of a bundle.
func written(b *bundle.Bundle) ([]byte, error) {
	var out bytes.Buffer
	if err := bundle.NewWriter(&out).UseModulePath(true).DisableFormat(true).Write(*b); err != nil {
		return nil, err
	}
	if err := inspect(out.Bytes()); err != nil {
		return nil, fmt.Errorf("the bundle %w", err)
	}
	return out.Bytes(), nil
}

// putManifest adds the manifest of a folder, nil for none. Nothing else is where a bundle has it.
func putManifest(data map[string]any, text []byte) error {
	if _, taken := data[manifestMember]; taken {
		return fmt.Errorf("data.%s of a bundle is its %s: give the data of that name another one", manifestMember, overlay.ManifestFile)
	}
	if _, taken := data[schemas]; taken {
		return fmt.Errorf("data.%s of a bundle are the program's: give the data of that name another one", schemas)
	}
	if text == nil {
		return nil
	}
	return put(data, manifestMember, text)
}

// put adds a document to the data at a folder.
func put(data map[string]any, folder string, text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber() // no number loses digits
	var members map[string]any
	if err := dec.Decode(&members); err != nil {
		return fmt.Errorf("isn't a JSON object: %w", err)
	}
	node := data
	if folder != "" {
		for part := range strings.SplitSeq(folder, "/") {
			next, ok := node[part].(map[string]any)
			if !ok {
				next = map[string]any{}
				node[part] = next
			}
			node = next
		}
	}
	for name, value := range members {
		if _, taken := node[name]; taken {
			return fmt.Errorf("another data.json already has %q", name)
		}
		node[name] = value
	}
	return nil
}

var errSigningKey = errors.New("must be a private key in PEM, RSA of 2048 bits or more or ECDSA: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 makes one")

// algorithmOfPrivate returns the algorithm of signatures by a private key.
func algorithmOfPrivate(text []byte) (string, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return "", errSigningKey
	}
	var key any
	var err error
	switch block.Type {
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	}
	signer, ok := key.(crypto.Signer)
	if err != nil || !ok {
		return "", errors.Join(errSigningKey, err)
	}
	if algorithm := algorithmOf(signer.Public()); algorithm != "" {
		return algorithm, nil
	}
	return "", errSigningKey
}
