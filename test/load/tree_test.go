package load_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/resources"
)

// envRealRoles names the file with the roles of a real cloud, a gzipped JSON list of
// {"role", "permissions"}. It is not part of the project.
const envRealRoles = "PORTCULLIS_TEST_LOAD_ROLES"

// role is a system role. Questions are about its asked permissions.
type role struct {
	id, scope          string
	permissions, asked []string
}

// loadRoles returns n roles of twenty permissions each.
func loadRoles(n int) []role {
	roles := make([]role, n)
	for r := range roles {
		roles[r].id, roles[r].scope = fmt.Sprintf("load_%04d", r), resources.RoleScopeProject
		for p := range 20 {
			roles[r].permissions = append(roles[r].permissions, fmt.Sprintf("project:kind%04d:verb%02d", r, p))
		}
		roles[r].asked = roles[r].permissions
	}
	return roles
}

// realRoles returns the roles of the file with permissions: a policy tree can't have others. asked has the permissions
// in a project. realRoles shortens names of resources to the limit of an action, and keeps them different.
func realRoles(b *testing.B, path string) []role {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	var listed []struct {
		Role        string
		Permissions []string
	}
	if err := json.NewDecoder(unzipped).Decode(&listed); err != nil {
		b.Fatal(err)
	}
	var roles []role
	for _, l := range listed {
		r := role{id: strings.ReplaceAll(l.Role, "/", "."), scope: resources.RoleScopeProject}
		for _, p := range l.Permissions {
			p = cutSegment(p)
			r.permissions = append(r.permissions, p)
			switch {
			case strings.HasPrefix(p, "project:"):
				r.asked = append(r.asked, p)
			case strings.HasPrefix(p, "account:"): // a role of the scope PROJECT can't grant it
				r.scope = resources.RoleScopeAccount
			}
		}
		if len(r.permissions) > 0 {
			roles = append(roles, r)
		}
	}
	fmt.Printf("%d of the %d real roles grant something\n", len(roles), len(listed))
	return roles
}

// cutSegment shortens the resource of a permission to 64 characters.
func cutSegment(permission string) string {
	part := strings.Split(permission, ":")
	if len(part) != 3 || len(part[1]) <= 64 {
		return permission
	}
	part[1] = fmt.Sprintf("%s-%08x", part[1][:55], crc32.ChecksumIEEE([]byte(part[1])))
	return strings.Join(part, ":")
}

// asking returns the roles of the scope PROJECT with asked permissions: the roles of users in the test.
func asking(roles []role) []role {
	return slices.DeleteFunc(slices.Clone(roles), func(r role) bool { return len(r.asked) == 0 || r.scope != resources.RoleScopeProject })
}

// writeTree writes the embedded policy tree with more system roles to a folder.
func writeTree(b *testing.B, roles []role) string {
	b.Helper()
	dir := b.TempDir()
	if err := os.CopyFS(dir, policies.Tree()); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(dir, "grants", "data.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	grants := map[string]any{}
	if err := json.Unmarshal(raw, &grants); err != nil {
		b.Fatal(err)
	}
	for _, r := range roles {
		granted := maps.Collect(func(yield func(string, bool) bool) {
			for _, p := range r.permissions {
				if !yield(p, true) {
					return
				}
			}
		})
		grants[r.id] = map[string]any{
			"name": r.id, "scope": r.scope, "description": "A role of the load run.", "permissions": granted,
		}
	}
	if raw, err = json.Marshal(grants); err != nil {
		b.Fatal(err)
	}
	if err := os.Remove(path); err != nil { // the copy of an embedded file may be read-only
		b.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		b.Fatal(err)
	}
	return dir
}
