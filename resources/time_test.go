package resources_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
)

func TestTimeIsRFC3339InUTCWithMilliseconds(t *testing.T) {
	for text, want := range map[string]string{
		`"2030-01-31T12:00:00Z"`: `"2030-01-31T12:00:00.000Z"`, `"2030-01-31T12:00:00.1239999Z"`: `"2030-01-31T12:00:00.123Z"`,
		`"2030-01-31T14:30:00+02:30"`: `"2030-01-31T12:00:00.000Z"`, `"1969-12-31T23:59:59.9Z"`: `"1969-12-31T23:59:59.900Z"`, `"9999-12-31T23:59:59.999Z"`: `"9999-12-31T23:59:59.999Z"`, `"0000-01-01T00:00:00.001Z"`: `"0000-01-01T00:00:00.001Z"`, `""`: `""`, `null`: `""`,
	} {
		got := resources.Time(5)
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if out, err := json.Marshal(got); err != nil || string(out) != want {
			t.Errorf("%s comes back as %s, %v", text, out, err)
		}
	}
	for _, text := range []string{
		`1700000000`, `"2030-01-31"`, `"2030-01-31 12:00:00Z"`, `"2030-01-31T12:00:00"`, `"2030-02-30T12:00:00Z"`, `"2030-02-30T12:00:00.000Z"`, `"2030-01-31T24:00:00.000Z"`, `"2030-01-31T12:00:00,000Z"`, `"2030-01-31T12:00:00.0a0Z"`, `"2030-01-31T1:00:00Z"`, `"2030-01-31T12:00:00,5Z"`, `"2030-01-31T25:00:00Z"`,
		`"9999-12-31T23:59:59-01:00"`, `"0000-01-01T00:00:00+01:00"`, `"10000-01-01T00:00:00Z"`, `" 2030-01-31T12:00:00Z"`, `{}`, `true`, `"2030-01-31T12:00:00+24:00"`,
	} {
		got := resources.Time(5)
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is read as %s", text, got)
		}
	}
	if moment := resources.At(time.UnixMilli(1_700_000_000_123).Add(999 * time.Microsecond)); moment != 1_700_000_000_123 || moment.String() != "2023-11-14T22:13:20.123Z" || resources.Time(0).String() != "" {
		t.Error(moment)
	}
	var absent struct {
		At resources.Time `json:"at,omitzero"`
	}
	if out, _ := json.Marshal(absent); string(out) != "{}" {
		t.Errorf("%s", out)
	}
}

// TestEmailIsFoldedInASCIIOnly guarantees that mailboxes equal under Unicode folding alone stay apart.
func TestEmailIsFoldedInASCIIOnly(t *testing.T) {
	for s, want := range map[string]string{
		"Ada@EXAMPLE.com": "ada@example.com", "": "", "@[`{": "@[`{", "ADMIN@\u212aelvin": "admin@\u212aelvin", "\u017fam@x": "\u017fam@x", "\u0130@x": "\u0130@x", "ÄÉ@X": "ÄÉ@x", "\xffA": "\xffa",
	} {
		if got := resources.FoldASCII(s); got != want {
			t.Errorf("%q becomes %q, want %q", s, got, want)
		}
	}
}
