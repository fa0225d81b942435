package attacks_test

import (
	"testing"

	"github.com/portcullis-authz/portcullis/test/overlay"
)

// mutant is the program without one defence; the cases of its class have to find it out.
type mutant struct {
	class, name string
	edits       []edit
}

// edit is one of a mutant's.
type edit overlay.Edit

func (m mutant) overlay() []overlay.Edit {
	out := make([]overlay.Edit, len(m.edits))
	for i, e := range m.edits {
		out[i] = overlay.Edit(e)
	}
	return out
}

const (
	pathFile       = "gateway/route/path.go"
	targetFile     = "gateway/route/target.go"
	errorsFile     = "gateway/errors.go"
	bodyFile       = "gateway/body.go"
	framingFile    = "gateway/framing.go"
	callerFile     = "gateway/caller.go"
	checkFile      = "gateway/target.go"
	tokenFile      = "gateway/authn/token.go"
	issuerFile     = "gateway/authn/issuer.go"
	principalFile  = "gateway/authn/principal.go"
	apiKeyFile     = "gateway/authn/apikey.go"
	strictFile     = "resources/wire/strict.go"
	capabilityFile = "policies/builtins/capabilities.go"
	evaluateFile   = "policies/engine/evaluate.go"
	boundsFile     = "policies/builtins/bounds.go"
)

var mutants = []mutant{
	{"path", "segments are not looked at", []edit{{pathFile, "	scanSegments(path, found)\n	if", "	if path == \"\" {\n		scanSegments(path, found)\n	}\n	if"}}},
	{"path", "escapes are not looked at", []edit{{pathFile, "		escapedByte(c, found)\n		decoded", "		if path == \"\" {\n			escapedByte(c, found)\n		}\n		decoded"}}},
	{"path", "an encoded slash is taken", []edit{{pathFile, "	case c == '/':\n", "	case c == '/':\n		return\n	case c == 0xff:\n"}}},
	{"path", "an escape in lower case is none", []edit{{pathFile, "|| 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'", "|| 'A' <= c && c <= 'F'"}, {pathFile, "			found.add(\"holds a % that is not followed by two hexadecimal digits\")\n", ""}}},
	{"path", "look-alikes are taken", []edit{{pathFile, "case looksLikeSyntax(r):", "case r == 0 && looksLikeSyntax(r):"}}},
	{"path", "bytes that end a path are taken", []edit{{pathFile, "	case c == ';':\n		found.add(\"holds a ; (", "	case c == 0:\n		found.add(\"holds a ; ("}}},
	{"path", "words of places stand anywhere", []edit{{targetFile, "	if ambiguous(t, rest) {", "	if rest == \"\" && ambiguous(t, rest) {"}}},
	{"path", "paths of any length", []edit{{pathFile, "maxPath = 2048", "maxPath = 1 << 20"}}},
	{"path", "only the decision's path is looked at", []edit{{checkFile, "range route.PathProblems(strings.TrimPrefix(x.path, \"/\"))", "range route.PathProblems(\"x\")"}, {checkFile, "		case !resources.ValidID(params[name]):", "		case params[name] == \"\":"}}},

	{"framing", "two framings", []edit{{framingFile, "|| found.framings > 1", ""}, {framingFile, "name[7] == '-'", "true"}, {framingFile, "name[8] == '-' && ", ""}}},
	{"framing", "names of any bytes", []edit{{framingFile, "if !httpguts.ValidHeaderFieldName(string(name)) {", "if len(name) == 0 && !httpguts.ValidHeaderFieldName(string(name)) {"}}},
	{"framing", "trailers", []edit{{framingFile, "		ok = false\n", ""}, {bodyFile, "		b.ended = true\n		return b.empty()\n", "		b.ended = true\n		for len(line) > 0 && err == nil && string(line) != \"\\r\\n\" {\n			line, err = b.c.line(fillSize)\n		}\n		return err\n"}}},
	{"framing", "chunks end in any line's end", []edit{{bodyFile, "string(line) != \"\\r\\n\"", "!bytes.HasSuffix(line, []byte(\"\\n\"))"}}},
	{"framing", "extensions of any bytes", []edit{{bodyFile, " || bytes.ContainsFunc(extension, unprintable)", ""}}},
	{"framing", "codings of any name", []edit{{framingFile, " && equalFold(bytes.Trim(value, \" \\t\"), \"chunked\")", ""}}},
	{"framing", "any version", []edit{{framingFile, "	if !old && string(protocol) != \"HTTP/1.1\" {", "	if !old && len(protocol) == 0 {"}}},
	{"framing", "any number of headers", []edit{{framingFile, "maxHeaders = 100", "maxHeaders = 100_000"}}},
	{"framing", "the connection stays open", []edit{{framingFile, "		closeAfter(x.raw)\n		return resources.BadRequest(resources.Problem{Text: err.Error()})", "		return resources.BadRequest(resources.Problem{Text: err.Error()})"}}},
	{"framing", "what was not read stays on the connection", []edit{{bodyFile, "		closeAfter(x.raw)\n	}\n}", "		x.raw.SetConnectionClose()\n	}\n}"}, {errorsFile, "	raw.SetConnectionClose()\n", ""}}},

	{"headers", "a header twice", []edit{{framingFile, "f.counts[i] > 1 || f.odd[i]", "f.odd[i]"}}},
	{"headers", "a header in another spelling", []edit{{framingFile, "f.counts[i] > 1 || f.odd[i]", "f.counts[i] > 1"}}},
	{"headers", "an underscore is no hyphen", []edit{{framingFile, " && (c != '_' || want != '-')", ""}}},
	{"headers", "claims are not checked", []edit{{callerFile, "	if !x.entry.Row.Claims {", "	if !x.entry.Row.Claims || x.entry.Row.Claims {"}}},
	{"headers", "a key beside another's token", []edit{{"gateway/authn/credential.go", "bearer.Kind != key.Kind || bearer.ID != key.ID || bearer.AccountID != key.AccountID || bearer.KeyID != \"\"", "bearer.Kind != key.Kind"}}},

	{"tokens", "no signature", []edit{{"gateway/authn/authenticator.go", "_, err := issuer.parser.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return key.public, nil }); err != nil", "_, _, err := issuer.parser.ParseUnverified(token, claims); err != nil && jwt.SigningMethodNone != nil"}}},
	{"tokens", "any header", []edit{{tokenFile, `return []string{"crit", "b64", "jku", "x5u", "jwk", "x5c"}`, "return nil"}}},
	{"tokens", "any type", []edit{{tokenFile, `return typ == "jwt" ||`, `return typ != "" ||`}}},
	{"tokens", "any size", []edit{{tokenFile, "maxTokenSize = 8 << 10", "maxTokenSize = 8 << 20"}}},
	{"tokens", "a claim twice", []edit{{"gateway/authn/strictjson.go", "bytes.NewReader(raw))", "bytes.NewReader(raw), jsontext.AllowDuplicateNames(true))"}, {"gateway/authn/strictjson.go", "json.Unmarshal(raw, &members)", "json.Unmarshal(raw, &members, jsontext.AllowDuplicateNames(true))"}}},
	{"tokens", "any audience", []edit{{issuerFile, "		jwt.WithAudience(i.Audience),\n", ""}}},
	{"tokens", "no expiry", []edit{{issuerFile, "		jwt.WithExpirationRequired(),\n", ""}, {"gateway/authn/claims.go", "	return from, p.expires.Add(leeway)", "	if p.expires == nil {\n		return from, from.AddDate(9000, 0, 0)\n	}\n	return from, p.expires.Add(leeway)"}}},
	{"tokens", "users who are not active", []edit{{principalFile, "	case identity.Status != resources.StatusActive:", "	case identity.Status == \"\":"}, {apiKeyFile, "	case owner.Status != resources.StatusActive:", "	case owner.Status == \"\":"}}},
	{"tokens", "a scope that only begins like one", []edit{{principalFile, "if slices.Contains(claims.Scope, scope) {", "if slices.ContainsFunc(claims.Scope, func(has string) bool { return strings.HasPrefix(has, scope) }) {"}}},
	{"tokens", "e-mail that nobody verified", []edit{{principalFile, "|| !claims.EmailVerified ", ""}}},

	{"keys", "keys have all scopes", []edit{{apiKeyFile, "slices.Clone(known.Key.Scopes)", "append(slices.Clone(known.Key.Scopes), \"read\", \"write\")"}}},
	{"keys", "a secret that is another's", []edit{{apiKeyFile, "	case !match:", "	case !match && len(raw) == 0:"}}},
	{"keys", "keys that were revoked", []edit{{"resources/apikeys/revoke.go", "		rec.Value.RevokedAt = s.now()\n", ""}}},
	{"keys", "keys of others", []edit{{"resources/apikeys/revoke.go", "(rec.Value.AccountID != p.account || rec.Value.UserID != p.user)", "rec.Value.AccountID != p.account"}}},
	{"keys", "a key is shown twice", []edit{{"resources/idempotency/keeper.go", "	if known.Body == \"\" {", "	if known.Body == \"\" && known.Made == \"\" {"}}},

	{"tenancy", "page tokens of anybody", []edit{{"resources/wire/pagetoken.go", "Seal(nil, nil, cursor, []byte(binding))", "Seal(nil, nil, cursor, nil)"}, {"resources/wire/pagetoken.go", "Open(nil, nil, raw, []byte(binding))", "Open(nil, nil, raw, nil)"}}},
	{"tenancy", "groups of anybody", []edit{{"resources/access/group.go", " || err == nil && rec.Value.AccountID != r.Params[\"accountId\"]", ""}}},
	{"tenancy", "roles of anybody", []edit{{"resources/access/role.go", "err != nil || rec == nil || rec.Value.AccountID != account", "err != nil || rec == nil"}}},
	{"tenancy", "security groups of another project", []edit{{"resources/firewall/service.go", "g.AccountID == p.account && g.ProjectID == p.project", "g.AccountID == p.account"}}},
	{"tenancy", "users of anybody", []edit{{"resources/users/member.go", "err != nil || rec == nil || rec.Value.AccountID != account", "err != nil || rec == nil"}}},
	{"tenancy", "idempotency keys of anybody", []edit{{"resources/idempotency/keeper.go", "digest(r.Principal.Kind, r.Principal.ID, r.Principal.AccountID, r.IdempotencyKey)", "digest(r.IdempotencyKey)"}, {"resources/idempotency/keeper.go", "digest(route, r.Path, r.Query, string(r.Body))", "digest(route, string(r.Body))"}}},

	{"roles", "more than one has", []edit{{"resources/access/service.go", "		if !decision.Allowed {\n			return resources.Forbidden(\"You cannot grant", "		if !decision.Allowed && g.Now == 0 {\n			return resources.Forbidden(\"You cannot grant"}}},
	{"roles", "the last admin", []edit{{"store/records/admins.go", "	if lasting(before) && !lasting(after) {", "	if lasting(before) && !lasting(after) && of.AccountID == \"\" {"}, {"store/records/admins.go", "	if of.Caller.Kind == resources.PrincipalUser && (", "	if of.AccountID == \"\" && ("}}},
	{"roles", "members of groups that hold more", []edit{{"resources/access/member.go", "user.Value.AccountID != group.Value.AccountID", "user.Value.AccountID == \"\""}}},

	{"input", "a name twice", []edit{{strictFile, "jsontext.NewDecoder(bytes.NewReader(body))\n	for", "jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true))\n	for"}, {strictFile, "	out := map[string]jsontext.Value{}\n	dec := jsontext.NewDecoder(bytes.NewReader(raw))", "	out := map[string]jsontext.Value{}\n	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true))"}}},
	{"input", "more than one value", []edit{{strictFile, "!errors.Is(err, io.EOF) {\n		return errTrailing", "!errors.Is(err, io.EOF) && len(body) == 0 {\n		return errTrailing"}}},
	{"input", "unknown members", []edit{{"resources/wire/object.go", "			unknown = append(unknown, name)", "			unknown = append(unknown[:0:0], unknown...)"}}},
	{"input", "bodies of any type", []edit{{bodyFile, "if x.headers.encoded || (len", "if x.headers.encoded && (len"}}},
	{"input", "addresses of two readings", []edit{{"resources/email.go", "&& plainLocalPart(s[:at]) ", "&& plainLocalPart(\"a\") "}}},

	{"load", "an evaluation takes its time", []edit{{boundsFile, "!time.Now().Before(b.at)", "time.Now().Before(b.at.Add(-time.Hour))"}}},
	{"load", "an evaluation makes what it likes", []edit{{boundsFile, "b.left < 0 &&", "b.left < -1<<40 &&"}}},
	{"load", "the engine catches no panic", []edit{{evaluateFile, "		if r := recover(); r != nil {\n			d, err", "		if r := any(nil); r != nil {\n			d, err"}, {"policies/engine/engine.go", "		if r := recover(); r != nil {", "		if r := any(nil); r != nil {"}}},
	{"load", "a policy calls what it likes", []edit{{capabilityFile, "(!judged || ", "(!judged && b.Name == \"\" || "}}},
	{"load", "peers have all the time", []edit{{"gateway/edge.go", "ReadTimeout: e.cfg.Limits.Read, ", ""}}},

	{"logs", "the server's own words are told", []edit{{errorsFile, "Status: status, Reason: errFraming.Error(), At", "Status: status, Reason: fmt.Sprint(cause), At"}, {"gateway/edge.go", "	srv.SecureErrorLogMessage = true\n", ""}}},
	{"logs", "readiness shows addresses", []edit{{"resources/health/report.go", "		return u.Err\n", "		return u\n"}}},
	{"logs", "credentials are shown", []edit{{"resources/mask.go", "	if start < 0 {\n		return text\n", "	if start < 0 || end > 0 {\n		return text\n"}}},
	{"logs", "what a terminal obeys is written", []edit{{"cmd/portcullis/observe/printable.go", "!resources.Unseen(r) {", "(r > 0x7f || !resources.Unseen(r)) {"}}},
}

// TestMutantsFitTheProgram: what a mutant replaces is there, once, and every class has mutants.
// Whoever changes those lines changes the mutant.
func TestMutantsFitTheProgram(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range mutants {
		builder.Fits(t, m.name, m.overlay()...)
		seen[m.class] = true
	}
	for _, c := range classes {
		if !seen[c.name] {
			t.Errorf("the class %s has no mutant: nobody has seen it fail", c.name)
		}
		delete(seen, c.name)
	}
	for name := range seen {
		t.Errorf("there is no class %s", name)
	}
}
