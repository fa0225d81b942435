package bundles

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/overlay"
)

// Bounds of a bundle. The predefined roles of a large cloud, 165,000 grants, are 9 MB of data.
const (
	// MaxSize bounds a bundle as it is sent, and what it holds.
	MaxSize  = 64 << 20
	maxFile  = 32 << 20
	maxFiles = 4096
)

// inspect reads the whole archive within its bounds and keeps nothing of it. The error says why it is not handed to
// OPA's reader, which holds all files in memory.
func inspect(raw []byte) error {
	if len(raw) > MaxSize {
		return tooLarge()
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("is not a bundle (%w): give a .tar.gz as opa build -b makes it", err)
	}
	limited := &io.LimitedReader{R: unzipped, N: MaxSize + 1}
	archive := tar.NewReader(limited)
	names, held, rules := map[string]bool{}, int64(0), int64(0)
	for {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			if len(names) == 0 {
				return errors.New("is not a bundle: there are no files in it; give a .tar.gz as opa build -b makes it")
			}
			return drain(limited)
		case limited.N <= 0:
			return tooLarge()
		case err != nil:
			return fmt.Errorf("is not a bundle (%w): give a .tar.gz as opa build -b makes it", err)
		}
		if err := checkEntry(header, names); err != nil {
			return err
		}
		if held += header.Size; held > MaxSize { // a sparse file is larger than what is sent of it
			return tooLarge()
		}
		if strings.HasSuffix(header.Name, ".rego") {
			rules += header.Size
		}
		if rules > policies.MaxRules {
			return fmt.Errorf("has more than %d MiB of rules: put what is data into a data.json", policies.MaxRules>>20)
		}
	}
}

// drain reads to the end, so that the checksum of the archive is compared.
func drain(limited *io.LimitedReader) error {
	if _, err := io.Copy(io.Discard, limited); err != nil {
		return fmt.Errorf("is not whole (%w): fetch or build it again", err)
	}
	if limited.N <= 0 {
		return tooLarge()
	}
	return nil
}

// checkEntry rejects entries other than plain files and folders within the archive, and repeated names. names holds
// the names read so far.
func checkEntry(header *tar.Header, names map[string]bool) error {
	name := strings.TrimPrefix(header.Name, "/")
	switch header.Typeflag {
	case tar.TypeDir:
		name = strings.TrimSuffix(name, "/")
	case tar.TypeReg:
	case tar.TypeXGlobalHeader:
		return nil
	default:
		return fmt.Errorf("%q is a link or a device: put plain files into the bundle", header.Name)
	}
	if name != path.Clean(name) || strings.HasPrefix(name, "../") || name == ".." || strings.ContainsAny(name, "\\\x00") {
		if header.Typeflag == tar.TypeDir && strings.Trim(name, "./") == "" {
			return nil // the archive's root
		}
		return fmt.Errorf("%q does not name a place within the bundle: build it with opa build -b from a folder without such names", header.Name)
	}
	if header.Typeflag == tar.TypeDir {
		return nil
	}
	switch {
	case path.Base(name) == "patch.json":
		return fmt.Errorf("%q is of a delta bundle, which has no tree: leave it out, and build the bundle whole with opa build -b", header.Name)
	case path.Base(name) == overlay.ManifestFile:
		return fmt.Errorf("%q is not read in a bundle, which has it as data.%s: build it with portcullis policy build", header.Name, manifestMember)
	case names[name]:
		return fmt.Errorf("%q comes twice: leave one out", header.Name)
	case len(names) == maxFiles:
		return fmt.Errorf("has more than %d files: is it the right one?", maxFiles)
	case header.Size > maxFile:
		return fmt.Errorf("%q is larger than %d MiB: leave out what is no policy", header.Name, maxFile>>20)
	}
	names[name] = true
	return nil
}

func tooLarge() error {
	return fmt.Errorf("is larger than %d MiB: leave out what is no policy", MaxSize>>20)
}
