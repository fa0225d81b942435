package resources_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

// BenchmarkTime reads a timestamp of a stored record.
func BenchmarkTime(b *testing.B) {
	text, err := json.Marshal(resources.At(time.UnixMilli(1_700_000_000_123)))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var t resources.Time
		if err := t.UnmarshalJSON(text); err != nil || t != 1_700_000_000_123 {
			b.Fatal(t, err)
		}
	}
}
