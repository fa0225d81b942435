package config

import (
	"slices"
	"testing"
	"time"
)

// TestSizesAreWholeNumbersOfUnits: bytes, KiB, MiB, GiB, and nothing else; what is shown is
// what is taken.
func TestSizesAreWholeNumbersOfUnits(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "321": 321, "64KiB": 64 << 10, "1MiB": 1 << 20, "2GiB": 2 << 30, "1536KiB": 1536 << 10, "007": 7} {
		var got size
		if err := got.Set(text); err != nil || int(got) != want {
			t.Errorf("%s is %d, %v", text, got, err)
		}
		var again size
		if err := again.Set(got.String()); err != nil || again != got {
			t.Errorf("%s is shown as %s", text, &got)
		}
	}
	for _, text := range []string{"", "KiB", "1.5MiB", "1 MiB", "1MB", "1M", "1kib", "1kb", "-1", "+1", "0x10", "1_000", "1e3", "9223372036854775808", "9007199254740992GiB", "1MiB1", "１"} {
		if err := new(size).Set(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// TestDurationsHaveDays beside Go's units.
func TestDurationsHaveDays(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"0": 0, "500ms": 500 * time.Millisecond, "1h30m": 90 * time.Minute, "14d": 14 * day, "1d12h": 36 * time.Hour, "1h1d": 25 * time.Hour, "0.5d": 12 * time.Hour, "-1d": -day, "400d": 400 * day,
	} {
		var got duration
		if err := got.Set(text); err != nil || time.Duration(got) != want {
			t.Errorf("%s is %s, %v", text, &got, err)
		}
		var again duration
		if err := again.Set(got.String()); err != nil || again != got {
			t.Errorf("%s is shown as %s", text, &got)
		}
	}
	for _, text := range []string{"", "d", "10", "1day", "1 d", "1dd", "1w", "200000d", "1d2", "٣d"} {
		if err := new(duration).Set(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestWithoutASettingNobodyElseReachesTheListeners(t *testing.T) {
	c, _ := serveFlags()
	if got := []string{c.Listeners.Edge, c.Listeners.Users, c.Listeners.Health}; !slices.Equal(got, []string{"127.0.0.1:8080", "127.0.0.1:9001", "127.0.0.1:9002"}) {
		t.Error(got)
	}
}

// TestDurationsAreShownAsTheyAreWritten guarantees it without units of zero.
func TestDurationsAreShownAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]string{"336h": "14d", "60m": "1h", "75s": "1m15s", "600s": "10m", "3601s": "1h0m1s", "0": "0s", "200ms": "200ms", "36h": "36h", "10s": "10s"} {
		var d duration
		if err := d.Set(text); err != nil || d.String() != want {
			t.Errorf("%s is shown as %s, %v", text, &d, err)
		}
	}
}
