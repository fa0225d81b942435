package resources_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources"
)

func TestATemplateIsAURIWithParametersForSegments(t *testing.T) {
	for _, uri := range []string{
		"repo://{owner}/{name}/{path+}", "file:///{path+}", "mail:inbox", "x-y+1.z:a/{b}", "repo://a/b", "a:{b}", "a:{b+}", "a:{userId_2}", "a:{_x}", "repo://{owner}/x/{rest+}", "a://h:80/x@y",
	} {
		if err := (resources.MCPResource{URI: uri}).CheckTemplate(); err != nil {
			t.Errorf("%q: %v", uri, err)
		}
	}
	for _, uri := range []string{
		"", "a", "a:", "a://", ":b", "A:b", "1a:b", "a b:c", "/a", "{a}:b", "a:{b+}/c", "a:{b", "a:b}", "a:{}", "a:{+}", "a:{2b}", "a:{b-c}", "a:x{b}", "a:{b}x", "a:{b}{c}", "a://b//c",
		"a://b/", "a:////b", "a://./b", "a://../b", "a:b?c", "a:b#c", "a:b%20c", "a:b\\c", "a:b;c", "a:é", "a:{b+}{c+}", "a:{b*}",
	} {
		if err := (resources.MCPResource{URI: uri}).CheckTemplate(); err == nil {
			t.Errorf("%q is taken", uri)
		}
	}
}

// TestTheMoreLiteralTemplateDecides read from the left, in each order of the rows.
func TestTheMoreLiteralTemplateDecides(t *testing.T) {
	templates := []string{"repo://{owner}/{name}", "repo://me/{name}", "repo://{owner}/x", "repo://me/{p+}", "repo://me/x", "repo://{p+}", "repo:///{p+}", "repo://{owner}/{name}/{p+}"}
	for uri, want := range map[string]string{
		"repo://me/x": "repo://me/x", "repo://me/y": "repo://me/{name}", "repo://me/y/z": "repo://me/{p+}", "repo://you/x": "repo://{owner}/x",
		"repo://you/y": "repo://{owner}/{name}", "repo://you/y/z": "repo://{owner}/{name}/{p+}", "repo://you": "repo://{p+}", "repo:///x": "repo:///{p+}", "repo://me": "repo://{p+}",
		"repo://you/a%20b": "repo://{owner}/{name}", "repo://you/%C3%A9": "repo://{owner}/{name}", "repo://you/%3F%23": "repo://{owner}/{name}",
		"repo://": "", "repo://me/": "", "repo://me//x": "", "repo:x": "", "repo:/x": "", "Repo://me/x": "", "repos://me/x": "", "": "", "repo": "", "://me/x": "",
		"repo://me/../x": "", "repo://me/./x": "", "repo://me/%2e%2e/x": "", "repo://me/.%2E": "", "repo://me/a%2fb": "", "repo://me/a%5Cb": "", "repo://me/%78": "", "repo://me/%20..": "", "repo://me/..%C2%A0/y": "",
		"repo://me/x?y": "", "repo://me/x#y": "", "repo://me/x;y": "", "repo://me/%3b": "", "repo://me/a\\b": "", "repo://me/a b": "", "repo://me/%": "", "repo://me/%4": "", "repo://me/%zz": "",
		"repo://me/%25": "", "repo://me/%00": "", "repo://me/\x00": "", "repo://me/é": "", "repo://me/%+5": "", "repo:////x": "", "repo://me/%20": "",
	} {
		for range 10 {
			rand.Shuffle(len(templates), func(i, j int) { templates[i], templates[j] = templates[j], templates[i] })
			s := resources.MCPServer{}
			for _, template := range templates {
				s.Resources = append(s.Resources, resources.MCPResource{URI: template})
			}
			got := s.Resource(uri)
			if want == "" && got != nil || want != "" && (got == nil || got.URI != want) {
				t.Fatalf("%q is judged by %+v, want %q; %q", uri, got, want, templates)
			}
		}
	}
}

// TestTwoTemplatesOfOneFormAreEqual by any names of their parameters; all others that meet have an order.
func TestTwoTemplatesOfOneFormAreEqual(t *testing.T) {
	parts := []string{"a", "b", "{x}", "{y}", "{x+}"}
	var templates []string
	for _, first := range parts {
		templates = append(templates, "s://"+first)
		for _, second := range parts {
			if !strings.HasSuffix(first, "+}") {
				templates = append(templates, "s://"+first+"/"+second)
			}
		}
	}
	for _, one := range templates {
		for _, two := range templates {
			a, b := resources.MCPResource{URI: one}, resources.MCPResource{URI: two}
			meets, better, equal := a.Overlap(b)
			back, worse, same := b.Overlap(a)
			form := strings.NewReplacer("{y", "{x").Replace
			if meets != back || equal != same || equal != (form(one) == form(two)) || meets && !equal && better == worse || equal && (better || worse) {
				t.Errorf("%q and %q: %v %v %v, %v %v %v", one, two, meets, better, equal, back, worse, same)
			}
		}
	}
}
