package proof_test

import (
	"io/fs"
	"testing"

	"github.com/portcullis-authz/portcullis/policies"
)

// BenchmarkLoad measures Load with the embedded tree.
func BenchmarkLoad(b *testing.B) { benchLoad(b, policies.Tree()) }

// BenchmarkLoadLarge measures Load with a thousand more system roles.
func BenchmarkLoadLarge(b *testing.B) { benchLoad(b, largeTree(b, 1000)) }

func benchLoad(b *testing.B, tree fs.FS) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := load(b, tree); err != nil {
			b.Fatal(err)
		}
	}
}
