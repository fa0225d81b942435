package decisions_test

import (
	"encoding/json"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/decisions"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// TestOfAStrangerTheIDIsTold, to users: of a subject who is not a member of the account, and of nobody else.
func TestOfAStrangerTheIDIsTold(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a member":            {`{"subject":{"id":"u","member":true,"exists":true,"status":"ACTIVE"}}`, `{"subject":{"id":"u","member":true,"exists":true,"status":"ACTIVE"}}`},
		"another's user":      {`{"subject":{"id":"u","member":false,"exists":true,"status":"ACTIVE"},"x":1}`, `{"subject":{"exists":false,"id":"u","member":false,"status":""},"x":1}`},
		"nobody":              {`{"subject":{"id":"u","member":false,"exists":false,"status":""}}`, `{"subject":{"id":"u","member":false,"exists":false,"status":""}}`},
		"membership masked":   {`{"subject":{"id":"u","exists":true,"status":"ACTIVE"}}`, `{"subject":{"exists":false,"id":"u","status":""}}`},
		"status masked":       {`{"subject":{"id":"u","exists":true,"member":false}}`, `{"subject":{"exists":false,"id":"u","member":false}}`},
		"an app's":            {`{"facts":{"member":false,"status":"ACTIVE"},"subject":{"member":true}}`, `{"facts":{"member":false,"status":""},"subject":{"member":true}}`},
		"an app's member":     {`{"facts":{"member":true,"status":"ACTIVE"},"subject":{}}`, `{"facts":{"member":true,"status":"ACTIVE"},"subject":{}}`},
		"masked as a whole":   {`{"subject":"…"}`, `{"subject":"…"}`},
		"without a subject":   {`{"action":{}}`, `{"action":{}}`},
		"erased":              {``, ``},
		"an odd form":         {`[]`, ``},
		"an odd membership":   {`{"subject":{"member":"true","status":"ACTIVE"}}`, `{"subject":{"member":"true","status":""}}`},
		"a null for subject":  {`{"subject":null}`, `{"subject":null}`},
		"another's caller":    {`{"account":{"id":"a"},"principal":{"account":"b","id":"u","kind":"user","uuid":"x"}}`, `{"account":{"id":"a"},"principal":{"account":"","id":"u","kind":"user","uuid":""}}`},
		"a caller of its own": {`{"principal":{"account":"a","uuid":"x"},"account":{"id":"a"}}`, `{"principal":{"account":"a","uuid":"x"},"account":{"id":"a"}}`},
		"a service":           {`{"principal":{"account":"","uuid":"","kind":"service"},"account":{"id":"a"}}`, `{"principal":{"account":"","uuid":"","kind":"service"},"account":{"id":"a"}}`},
		"account masked":      {`{"account":"…","principal":{"account":"b"}}`, `{"account":"…","principal":{"account":""}}`},
		"caller masked":       {`{"account":{"id":"a"},"principal":{"id":"u","uuid":"x"}}`, `{"account":{"id":"a"},"principal":{"id":"u","uuid":""}}`},
		"an app's caller":     {`{"facts":{"account":{"id":"a"},"member":true,"principal":{"account":"b","uuid":"x"}},"subject":{}}`, `{"facts":{"account":{"id":"a"},"member":true,"principal":{"account":"","uuid":""}},"subject":{}}`},
	} {
		e := decisionlog.Event{Input: []byte(c.text)}
		decisions.ForUser(&e)
		got := string(e.Input)
		if got != c.want || got != "" && !json.Valid([]byte(got)) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
