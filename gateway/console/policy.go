package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// policyPages returns the handlers of the policy tree, by pattern.
func policyPages() map[string]func(*page) error {
	return map[string]func(*page) error{"GET /policy": showPolicy}
}

// maxSource limits a policy file that a page shows, in bytes.
const maxSource = 512 << 10

// policyView is the data of the Policy page. Operators see the tree, others the system roles.
type policyView struct {
	Revision, Bundle string
	Files            []policyFile
	History          []policyEntry
	// Shadow is nil if no candidate policy is set.
	Shadow *shadowed
	// Compares is true if the console can compare policies.
	Compares bool
	// File is the shown file and Lines its text. TooLarge is true if the file exceeds maxSource.
	File     string
	Lines    [][]piece
	TooLarge bool
	Roles    []role
}

// Line converts an index to a line number.
func (policyView) Line(index int) int { return index + 1 }

// policyFile is a file of the policy tree.
type policyFile struct {
	Name   string
	Bytes  int
	IsTest bool
}

// Link returns the address of the file's page.
func (f policyFile) Link() string { return "/policy?" + url.Values{"file": {f.Name}}.Encode() }

// sourceLink returns the address of a line on the Policy page. place has the form `file:line`.
func sourceLink(place string) string {
	i := strings.LastIndexByte(place, ':')
	if i < 0 {
		return policyFile{Name: place}.Link()
	}
	return policyFile{Name: place[:i]}.Link() + "#L" + place[i+1:]
}

// Size formats the size of the file.
func (f policyFile) Size() string {
	if f.Bytes < 1<<10 {
		return strconv.Itoa(f.Bytes) + " B"
	}
	return strconv.Itoa(f.Bytes>>10) + " KiB"
}

// firstFile is the file that the page shows by default.
const firstFile = "authz/decision.rego"

func showPolicy(p *page) error {
	var tree struct {
		Revision string            `json:"revision"`
		Bundle   string            `json:"bundle"`
		Files    map[string][]byte `json:"files"`
	}
	ok, err := p.private("/policy/tree", &tree)
	if err != nil {
		return err
	}
	if !ok {
		return showSystemRoles(p)
	}
	v := policyView{Revision: tree.Revision, Bundle: tree.Bundle, File: p.field("file")}
	for name, content := range tree.Files {
		v.Files = append(v.Files, policyFile{name, len(content), strings.HasSuffix(name, "_test.rego")})
	}
	slices.SortFunc(v.Files, func(a, b policyFile) int { return strings.Compare(a.Name, b.Name) })
	content, has := tree.Files[v.File]
	switch {
	case has:
	case v.File != "":
		return &apiError{Status: http.StatusNotFound, Message: "The policy in force does not have this file."}
	case tree.Files[firstFile] != nil:
		v.File, content = firstFile, tree.Files[firstFile]
	case len(v.Files) > 0:
		v.File = v.Files[0].Name
		content = tree.Files[v.File]
	}
	if v.TooLarge = len(content) > maxSource; !v.TooLarge {
		v.Lines = linesOf(string(content))
	}
	if v.History, err = p.policyHistory(); err != nil {
		return err
	}
	var status installation
	if _, err = p.private("/status", &status); err != nil {
		return err
	}
	v.Shadow, v.Compares = status.Shadow, p.c.cfg.Compare != nil
	return p.show(http.StatusOK, "policy", "Policy", "/policy", v)
}

// showSystemRoles shows the roles that the policy defines. Members may read them.
func showSystemRoles(p *page) error {
	var answer rolePage
	if err := p.api.get(p.r.Context(), p.account("roles"), url.Values{"pageSize": {"100"}}, &answer); err != nil {
		return err
	}
	v := policyView{Roles: slices.DeleteFunc(answer.Data, func(r role) bool { return r.IsCustom })}
	return p.show(http.StatusOK, "policy", "Policy", "/policy", v)
}
