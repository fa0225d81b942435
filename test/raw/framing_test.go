package raw_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/test/harness"
)

// TestAmbiguousFramingIsRefused: what two servers could frame differently is refused,
// never judged, and the connection is closed.
func TestAmbiguousFramingIsRefused(t *testing.T) {
	t.Parallel()
	s := harness.NewScene(t, harness.Start(t, "--log-level", "debug", "--read-timeout", "2s"))
	if a := harness.SendRaw(t, s.URL, s.RawQuestion("")); a.Status != 200 || !strings.Contains(a.Body, `"allowed":true`) {
		t.Fatalf("the question itself: %d %s", a.Status, a.Body)
	}
	hidden := s.RawQuestion("")
	long := strings.Repeat("a", 40<<10)
	for _, cases := range []map[string]framing{bodyFramings(s, hidden, long), headerFramings(s, hidden), targetFramings(s, hidden, long)} {
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				before := len(s.Settled(t))
				a := harness.SendRaw(t, s.URL, c.raw)
				if !slices.Contains(c.want, a.Status) || !a.Closed {
					t.Errorf("%d %s closed=%v, want %v and closed", a.Status, a.Body, a.Closed, c.want)
				}
				if a.Header.Get("X-Request-ID") == "" || !strings.Contains(a.Body, `"error"`) {
					t.Errorf("headers %v, body %s", a.Header, a.Body)
				}
				s.CheckNothingAllowed(t, before, a)
			})
		}
	}
}

// TestHTTP10IsAnswered, as a proxy asks by default, and its connection is closed.
func TestHTTP10IsAnswered(t *testing.T) {
	s := harness.NewScene(t, harness.Start(t))
	for name, raw := range map[string]string{
		"plain": s.RawQuestion(""), "kept alive": s.RawQuestion("", "Connection: keep-alive"), "no host": strings.Replace(s.RawQuestion(""), "Host: gateway\r\n", "", 1),
	} {
		a := harness.SendRaw(t, s.URL, strings.Replace(raw, "HTTP/1.1", "HTTP/1.0", 1))
		if a.Status != 200 || !a.Closed || !strings.Contains(a.Body, `"allowed":true`) {
			t.Errorf("%s: %d %s closed=%v", name, a.Status, a.Body, a.Closed)
		}
	}
}

// TestOddRequestsAreAnswered: well-framed, but not what any route takes; the connection
// goes on.
func TestOddRequestsAreAnswered(t *testing.T) {
	s := harness.NewScene(t, harness.Start(t))
	hidden := s.RawQuestion("")
	for name, c := range map[string]struct {
		raw  string
		want int
	}{
		"unknown method":                      {strings.Replace(hidden, "POST", "FETCH", 1), 405},
		"lower-case method":                   {strings.Replace(hidden, "POST", "post", 1), 405},
		"method of another case":              {strings.Replace(hidden, "POST", "Post", 1), 405},
		"TRACE":                               {strings.Replace(hidden, "POST", "TRACE", 1), 405},
		"unknown method, no path":             {s.RawHead("FETCH", "/nothing"), 404},
		"health agent":                        {s.RawHead("GET", "/livez", "User-Agent: kube-probe/1.30"), 404},
		"body on authorization.check":         {s.RawQuestion(hidden, fmt.Sprintf("Content-Length: %d", len(hidden))), 400},
		"chunked body on authorization.check": {s.RawQuestion(fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(hidden), hidden), "Transfer-Encoding: chunked"), 400},
		"target over 2048":                    {strings.Replace(hidden, "/instances", "/"+strings.Repeat("a", 3000), 1), 400},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(s.Settled(t))
			a := harness.SendRaw(t, s.URL, c.raw)
			if a.Status != c.want || a.Closed {
				t.Errorf("%d %s closed=%v, want %d", a.Status, a.Body, a.Closed, c.want)
			}
			if (a.Header.Get("Allow") == "POST") != (c.want == 405) {
				t.Errorf("Allow %q", a.Header.Get("Allow"))
			}
			s.CheckNothingAllowed(t, before, a)
		})
	}
}

// framing is a request as bytes, and the statuses that refuse it.
type framing struct {
	raw  string
	want []int
}

// bodyFramings are bodies whose end two servers see at different places.
func bodyFramings(s *harness.Scene, hidden, long string) map[string]framing {
	return map[string]framing{
		"length, then coding":    {s.RawQuestion("0\r\n\r\n"+hidden, "Content-Length: 5", "Transfer-Encoding: chunked"), []int{400}},
		"coding, then length":    {s.RawQuestion("0\r\n\r\n"+hidden, "Transfer-Encoding: chunked", "Content-Length: 5"), []int{400}},
		"length 0 and coding":    {s.RawQuestion("0\r\n\r\n", "Content-Length: 0", "Transfer-Encoding: chunked"), []int{400}},
		"length twice, equal":    {s.RawQuestion("", "Content-Length: 0", "Content-Length: 0"), []int{400}},
		"length twice":           {s.RawQuestion("hello", "Content-Length: 0", "Content-Length: 5"), []int{400}},
		"length list":            {s.RawQuestion("hello", "Content-Length: 5, 5"), []int{400}},
		"length +5":              {s.RawQuestion("hello", "Content-Length: +5"), []int{400}},
		"length -5":              {s.RawQuestion("hello", "Content-Length: -5"), []int{400}},
		"length 0x5":             {s.RawQuestion("hello", "Content-Length: 0x5"), []int{400}},
		"length 5.0":             {s.RawQuestion("hello", "Content-Length: 5.0"), []int{400}},
		"length 1e1":             {s.RawQuestion("hello", "Content-Length: 1e1"), []int{400}},
		"length 5 a":             {s.RawQuestion("hello", "Content-Length: 5 a"), []int{400}},
		"length empty":           {s.RawQuestion("", "Content-Length:"), []int{400}},
		"length huge":            {s.RawQuestion("", "Content-Length: 99999999999999999999999"), []int{400, 413}},
		"length over the limit":  {s.RawQuestion(long, "Content-Length: 99999999"), []int{413}},
		"nothing of that sent":   {s.RawQuestion("", "Content-Length: 99999999"), []int{413}},
		"and it is waited for":   {s.RawQuestion("", "Content-Length: 99999999", "Expect: 100-continue"), []int{413}},
		"length with underscore": {s.RawQuestion("", "Content_Length: 5"), []int{400}},
		"coding twice":           {s.RawQuestion("0\r\n\r\n", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), []int{400}},
		"coding list":            {s.RawQuestion("0\r\n\r\n", "Transfer-Encoding: gzip, chunked"), []int{400}},
		"coding chunked twice":   {s.RawQuestion("0\r\n\r\n", "Transfer-Encoding: chunked, chunked"), []int{400}},
		"coding unknown":         {s.RawQuestion("0\r\n\r\n", "Transfer-Encoding: xchunked"), []int{400}},
		"coding identity":        {s.RawQuestion(hidden, "Transfer-Encoding: identity"), []int{400}},
		"coding quoted":          {s.RawQuestion("0\r\n\r\n", `Transfer-Encoding: "chunked"`), []int{400}},
		"coding after a control": {s.RawQuestion("0\r\n\r\n", "Transfer-Encoding: \x0bchunked"), []int{400}},
		"coding with underscore": {s.RawQuestion("", "Transfer_Encoding: chunked"), []int{400}},
		"coding empty":           {s.RawQuestion("", "Transfer-Encoding:"), []int{400}},
		"trailer announced":      {s.RawQuestion("0\r\nX-User-ID: a\r\n\r\n", "Transfer-Encoding: chunked", "Trailer: X-User-ID"), []int{400}},
		"trailer not announced":  {s.RawQuestion("0\r\nX-User-ID: "+s.Admin+"\r\n\r\n", "Transfer-Encoding: chunked"), []int{400}},
		"chunk size with sign":   {s.RawQuestion("+0\r\n\r\n", "Transfer-Encoding: chunked"), []int{400}},
		"chunk size 0x0":         {s.RawQuestion("0x0\r\n\r\n", "Transfer-Encoding: chunked"), []int{400}},
		"chunk size huge":        {s.RawQuestion("fffffffffffffffff\r\n", "Transfer-Encoding: chunked"), []int{400}},
		"chunk line in bare LF":  {s.RawQuestion("0\n\n", "Transfer-Encoding: chunked"), []int{400}},
		"chunks end in bare LF":  {s.RawQuestion("0\r\n\n"+hidden, "Transfer-Encoding: chunked"), []int{400}},
		"NUL in an extension":    {s.RawQuestion("0;\x00\r\n\r\n"+hidden, "Transfer-Encoding: chunked"), []int{400}},
		"long extension":         {s.RawQuestion("0;"+long+"\r\n\r\n"+hidden, "Transfer-Encoding: chunked"), []int{400}},
		"spaces behind a size":   {s.RawQuestion("0"+strings.Repeat(" ", 5000)+"\r\n\r\n"+hidden, "Transfer-Encoding: chunked"), []int{400}},
		"chunk without its end":  {s.RawQuestion("5\r\nhelloX0\r\n\r\n", "Transfer-Encoding: chunked"), []int{400}},
	}
}

// headerFramings are header lines that two servers split differently; hidden is a
// well-formed question.
func headerFramings(s *harness.Scene, hidden string) map[string]framing {
	q := func(old, suffix string) string { return strings.Replace(hidden, old, suffix, 1) }
	waits := []int{400, 408} // a head without its end: the server then waits for more
	return map[string]framing{
		"bare LF":                   {strings.ReplaceAll(hidden, "\r\n", "\n"), waits},
		"bare LF in one header":     {q("Host: gateway\r\n", "Host: gateway\n"), []int{400}},
		"bare LF at the end":        {strings.TrimSuffix(hidden, "\r\n") + "\n", waits},
		"bare CR in a header":       {q("Host: gateway", "Host: gateway\rX: y"), []int{400}},
		"double CR":                 {q("Host: gateway\r\n", "Host: gateway\r\r\n"), []int{400}},
		"folded line":               {q("Host: gateway\r\n", "Host: gateway\r\n folded\r\n"), []int{400}},
		"folded with a tab":         {q("Host: gateway\r\n", "Host: gateway\r\nX-A: b\r\n\tc\r\n"), []int{400}},
		"folded identity":           {s.RawQuestion("", "X-A: b\r\n X-User-ID: mallory"), []int{400}},
		"NUL in a value":            {s.RawQuestion("", "X-A: a\x00b"), []int{400}},
		"NUL in a name":             {s.RawQuestion("", "X-A\x00: b"), []int{400}},
		"control in a value":        {s.RawQuestion("", "X-A: \x1b[31m"), []int{400}},
		"DEL in a value":            {s.RawQuestion("", "X-A: \x7f"), []int{400}},
		"space before the colon":    {s.RawQuestion("", "X-A : b"), []int{400}},
		"tab before the colon":      {s.RawQuestion("", "X-A\t: b"), []int{400}},
		"space before host's colon": {q("Host:", "Host :"), []int{400}},
		"space in a name":           {s.RawQuestion("", "X A: b"), []int{400}},
		"no colon":                  {s.RawQuestion("", "X-A"), []int{400}},
		"no name":                   {s.RawQuestion("", ": b"), []int{400}},
		"line begins with a space":  {q("Host:", " Host:"), []int{400}},
		"not ASCII in a name":       {s.RawQuestion("", "X-\u00e9: b"), []int{400}},
		"no host":                   {q("Host: gateway\r\n", ""), []int{400}},
		"a dot at the host's end":   {q("Host: gateway", "Host: gateway."), []int{400}},
		"a dot before a port":       {q("Host: gateway", "Host: gateway.:80"), []int{400}},
		"an empty port":             {q("Host: gateway", "Host: gateway:"), []int{400}},
		"a user in the host":        {q("Host: gateway", "Host: a@gateway"), []int{400}},
		"a host with a path":        {q("Host: gateway", "Host: gateway/a"), []int{400}},
		"a host in letters beyond":  {q("Host: gateway", "Host: g\u00e4teway"), []int{400}},
		"an encoded host":           {q("Host: gateway", "Host: g%61teway"), []int{400}},
		"an odd host over HTTP/1.0": {strings.Replace(q("Host: gateway", "Host: gateway."), "HTTP/1.1", "HTTP/1.0", 1), []int{400}},
		"host twice":                {q("Host: gateway\r\n", "Host: gateway\r\nHost: gateway\r\n"), []int{400}},
		"no headers":                {"POST /api/v1/authorize/x HTTP/1.1\r\n\r\n", []int{400}},
	}
}

// targetFramings are request lines of another form or version, heads that are too
// large, and requests hidden behind a refusal.
func targetFramings(s *harness.Scene, hidden, long string) map[string]framing {
	q := func(old, suffix string) string { return strings.Replace(hidden, old, suffix, 1) }
	return map[string]framing{
		"absolute form":               {q("POST /", "POST http://gateway/"), []int{400}},
		"absolute form, other host":   {q("POST /", "POST http://other/"), []int{400}},
		"authority form":              {"CONNECT gateway:443 HTTP/1.1\r\nHost: gateway:443\r\n\r\n", []int{400}},
		"asterisk form":               {"OPTIONS * HTTP/1.1\r\nHost: gateway\r\n\r\n", []int{400}},
		"relative target":             {q("POST /api", "POST api"), []int{400}},
		"no target":                   {"POST HTTP/1.1\r\nHost: gateway\r\n\r\n", []int{400}},
		"a chunk over the limit":      {s.RawQuestion("", "Transfer-Encoding: chunked") + "100001\r\n", []int{413}},
		"the largest chunk":           {s.RawQuestion("", "Transfer-Encoding: chunked") + "ffffffffffffffff\r\n", []int{413}},
		"HTTP/1.0 with a coding":      {strings.Replace(s.RawQuestion("0\r\n\r\n", "Transfer-Encoding: chunked"), "HTTP/1.1", "HTTP/1.0", 1), []int{400}},
		"HTTP/0.9":                    {"GET /api/v1/authorize/x\r\n\r\n", []int{400}},
		"HTTP/1.2":                    {q("HTTP/1.1", "HTTP/1.2"), []int{400}},
		"HTTP/2.0":                    {q("HTTP/1.1", "HTTP/2.0"), []int{400}},
		"http/1.1":                    {q("HTTP/1.1", "http/1.1"), []int{400}},
		"HTTP/2 preface":              {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []int{400}},
		"TLS hello":                   {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", []int{400}},
		"space in the target":         {q(" HTTP/1.1", " x HTTP/1.1"), []int{400}},
		"two spaces":                  {q("POST /", "POST  /"), []int{400}},
		"tab for a space":             {q("POST /", "POST\t/"), []int{400}},
		"control in the target":       {q("/instances", "/inst\x01ances"), []int{400}},
		"NUL in the target":           {q("/instances", "/inst\x00ances"), []int{400}},
		"CR in the target":            {q("/instances", "/inst\rances"), []int{400}},
		"control in the method":       {q("POST", "PO\x01ST"), []int{400}},
		"thousand headers":            {s.RawQuestion("", strings.Split(strings.TrimSuffix(strings.Repeat("X-A: b|", 1000), "|"), "|")...), []int{400, 431}},
		"one header over 32 KiB":      {s.RawQuestion("", "X-A: "+long), []int{431}},
		"many headers over 32 KiB":    {s.RawQuestion("", strings.Split(strings.TrimSuffix(strings.Repeat("X-A: "+long[:1<<10]+"|", 40), "|"), "|")...), []int{431}},
		"very long target":            {q("/instances", "/"+long), []int{431}},
		"very long method":            {q("POST", long), []int{431}},
		"a header that does not end":  {"POST / HTTP/1.1\r\nHost: " + long, []int{431}},
		"hidden behind a 404":         {s.RawHead("POST", "/nothing", fmt.Sprintf("Content-Length: %d", 8192+len(hidden))) + long[:8192] + hidden, []int{404}},
		"hidden behind a chunked 404": {s.RawHead("POST", "/nothing", "Transfer-Encoding: chunked") + fmt.Sprintf("%x\r\n", len(hidden)) + hidden + "\r\n0\r\n\r\n", []int{404}},
		"hidden behind a 413":         {s.RawHead("POST", "/api/v1/accounts", fmt.Sprintf("Content-Length: %d", 2<<20)) + strings.Repeat("a", 1<<20) + hidden, []int{413}},
	}
}
