package engine

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/builtins"
)

// defaultTestsWithin bounds a tree's own tests.
const defaultTestsWithin = 30 * time.Second

// LoadOptions bound the proof of a tree. The zero value is the default.
type LoadOptions struct {
	// TestsWithin bounds the tree's own tests; zero is 30 s.
	TestsWithin time.Duration
}

// Load reads, compiles and proves a tree. The error is Problems: all that is wrong
// with the tree as far as it could be read.
func Load(ctx context.Context, fsys fs.FS, opts LoadOptions) (*Set, error) {
	src, err := policies.Read(fsys)
	if err != nil {
		return nil, err
	}
	return load(ctx, src, opts)
}

func load(ctx context.Context, src *policies.Source, opts LoadOptions) (s *Set, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, Problems{oneLine(fmt.Sprintf("policy tree: the compiler panicked: %v", r))}
		}
	}()
	if opts.TestsWithin <= 0 {
		opts.TestsWithin = defaultTestsWithin
	}
	var p Problems
	if checkSchemas(src, &p); len(p) > 0 {
		return nil, p
	}
	data, docs := readData(src, &p)
	list := readCatalogue(ctx, src, docs, &p)
	c, err := compile(ctx, src, data, &p)
	if err != nil {
		return nil, p.orElse(err)
	}
	checkEntries(c.serving, &p)
	if err := p.err(); err != nil {
		return nil, err
	}
	builtins.Charge(c.testing, func(at *ast.Location, problem string) { p.at(at.File, at.Row, "%s", problem) })
	if err := p.err(); err != nil {
		return nil, err
	}
	s, err = NewSet(ctx, Compiled{Revision: src.Revision, Compiler: c.serving, Store: c.store, Routes: list.routes, Roles: list.roles})
	if err != nil {
		return nil, Problems{oneLine("policy tree: " + err.Error())}
	}
	probe(ctx, s, opts, &p)
	s.tests = runTests(ctx, c, opts, &p)
	if err := p.err(); err != nil {
		return nil, err
	}
	return s, nil
}

// orElse is the problems, or where there are none the error itself.
func (p Problems) orElse(err error) error {
	if own := p.err(); own != nil {
		return own
	}
	return Problems{oneLine("policy tree: " + err.Error())}
}
