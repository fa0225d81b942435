package users_test

import (
	"strings"
	"testing"
)

// TestMetadataComesBackAsItWasSent guarantees it for numbers beyond a float, keys with the looks of
// operators or extended JSON, the order, escapes, and unescaped characters.
func TestMetadataComesBackAsItWasSent(t *testing.T) {
	w := newWorld(t)
	for _, metadata := range []string{
		`{}`,
		`{"n":123456789012345678901234567890,"f":1.0,"e":1E+400,"z":-0,"m":9223372036854775808}`,
		`{"$ne":"","$where":"1","$set":{"status":"ACTIVE"},"a.b":{"$gt":1},"":[]}`,
		`{"_id":{"$oid":"507f1f77bcf86cd799439011"},"d":{"$date":{"$numberLong":"1"}},"$numberDecimal":"1"}`,
		`{"z":1,"a":{"z":1,"a":null},"A":true}`,
		`{"html":"<b>&amp;</b>","slash":"\/","u":"\u00e9\u2028é` + "\u2028" + `","pair":"\ud83d\ude00"}`,
		`{"a":"` + strings.Repeat("x", 16<<10-8) + `"}`,
	} {
		w.Expect(w.call("user.update", syncer(), acctA, bob, `{"metadata":`+metadata+`}`), 200)
		if got := string(w.get(bob).Metadata); got != metadata {
			t.Errorf("stored as %.200s, sent %.200s", got, metadata)
		}
		r := ask(syncer(), "", "", nil)
		r.Query = "external_id=" + bob
		w.Expect(w.Ask("user.find", r), 200, `"metadata":`+metadata+`,`)
	}
	w.Expect(w.call("user.update", syncer(), acctA, bob, `{"name":"kept"}`), 200)
	if got := len(w.get(bob).Metadata); got != 16<<10 {
		t.Errorf("%d bytes after another change", got)
	}
	w.Expect(w.call("user.update", syncer(), acctA, bob, `{"metadata":{"a":"`+strings.Repeat("x", 16<<10-7)+`"}}`), 400, "metadata: ")
	for _, bad := range []string{`"x"`, `[1]`, `1`, `{"a":1,"a":1}`, `{"a":"\u0000"}`, `{"a":"\ud800"}`, "{\"a\":\"\xff\"}", strings.Repeat(`{"a":`, 32) + "1" + strings.Repeat("}", 32)} {
		w.Expect(w.call("user.update", syncer(), acctA, bob, `{"metadata":`+bad+`}`), 400, "REQ_001")
	}
}
