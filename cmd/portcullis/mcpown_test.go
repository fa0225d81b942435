package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp"
	"github.com/portcullis-authz/portcullis/gateway/doors/mcp/own"
	"github.com/portcullis-authz/portcullis/policies"
	"github.com/portcullis-authz/portcullis/policies/pins"
	"github.com/portcullis-authz/portcullis/resources"
)

// TestReferenceHasTheOwnTools guarantees that the base's rows of the server portcullis have the definitions of its tools,
// and no other tool. `make reference` writes them.
func TestReferenceHasTheOwnTools(t *testing.T) {
	server := own.New("", func(context.Context, *doors.Inside) doors.InsideAnswer {
		t.Error("a list asked the API")
		return doors.InsideAnswer{}
	}, slog.New(slog.DiscardHandler))
	lister := mcp.Lister{Send: server.Send, IDs: resources.IDs{Now: time.Now, Random: rand.Reader}}
	listed, err := lister.Tools(t.Context(), &resources.MCPServer{})
	if err != nil {
		t.Fatal(err)
	}
	src, err := policies.Read(policies.Tree())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := pins.Read(src, "portcullis")
	if err != nil {
		t.Fatal(err)
	}
	changes, err := rows.Pin(toPin(listed), nil)
	if err != nil || changes.Unnamed > 0 || len(listed) != len(rows.Server.Tools) {
		t.Fatalf("%v, %+v", err, changes)
	}
	files := rows.Changed()
	if files[rows.RowsFile] == nil {
		return
	}
	if os.Getenv("PORTCULLIS_TEST_WRITE") == "" {
		t.Fatalf("%s and the tools differ; run `make reference`: %v", rows.RowsFile, changes.Lines)
	}
	name := filepath.Join("..", "..", "policies", rows.RowsFile)
	if err := os.WriteFile(name, files[rows.RowsFile], 0o600); err != nil {
		t.Fatal(err)
	}
}
