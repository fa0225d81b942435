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
	rowFile        = "gateway/route/row.go"
	tokenFile      = "gateway/authn/token.go"
	issuerFile     = "gateway/authn/issuer.go"
	principalFile  = "gateway/authn/principal.go"
	apiKeyFile     = "gateway/authn/apikey.go"
	strictFile     = "resources/wire/strict.go"
	capabilityFile = "policies/limits/capabilities.go"
	evaluateFile   = "policies/engine/evaluate.go"
	boundsFile     = "policies/limits/bounds.go"
)

// mutants lack the defences of each class that hold back most; the others are left to the cases themselves.
var mutants = []mutant{
	{"path", "segments are not looked at", []edit{{pathFile, "	scanSegments(path, f)\n	if", "	if path == \"\" {\n		scanSegments(path, f)\n	}\n	if"}}},
	{"path", "an encoded slash is taken", []edit{{pathFile, "	case c == '/':\n", "	case c == '/':\n		return\n	case c == 0xff:\n"}}},
	{"path", "words of places stand anywhere", []edit{{targetFile, "	if ambiguous(t, rest) {", "	if rest == \"\" && ambiguous(t, rest) {"}}},
	{"path", "only the decision's path is looked at", []edit{{rowFile, "range PathProblems(path)", "range PathProblems(\"x\")"}, {"gateway/route/params.go", "		case form == \"\" && !resources.ValidID(value):", "		case value == \"\":"}}},

	{"framing", "two framings", []edit{{framingFile, "|| result.framings > 1", ""}, {framingFile, "name[7] == '-'", "true"}, {framingFile, "name[8] == '-' && ", ""}}},
	{"framing", "trailers", []edit{{framingFile, "		ok = false\n", ""}, {bodyFile, "		b.ended = true\n		return b.empty()\n", "		b.ended = true\n		for len(line) > 0 && err == nil && string(line) != \"\\r\\n\" {\n			line, err = b.c.line(fillSize)\n		}\n		return err\n"}}},
	{"framing", "chunks end in any line's end", []edit{{bodyFile, "string(line) != \"\\r\\n\"", "!bytes.HasSuffix(line, []byte(\"\\n\"))"}}},
	{"framing", "codings of any name", []edit{{framingFile, " && equalFold(bytes.Trim(value, \" \\t\"), \"chunked\")", ""}}},
	{"framing", "what was not read stays on the connection", []edit{{bodyFile, "		closeAfter(x.raw)\n	}\n}", "		x.raw.SetConnectionClose()\n	}\n}"}, {errorsFile, "	raw.SetConnectionClose()\n", ""}}},

	{"headers", "a header twice", []edit{{framingFile, "f.counts[i] > 1 || f.odd[i]", "f.odd[i]"}}},
	{"headers", "claims are not checked", []edit{{callerFile, "	if x.entry == nil || !x.entry.Route.Claims {", "	if x.entry == nil || !x.entry.Route.Claims || x.entry.Route.Claims {"}}},
	{"headers", "a key beside another's token", []edit{{"gateway/authn/credential.go", "bearer.Kind != key.Kind || bearer.ID != key.ID || bearer.AccountID != key.AccountID || bearer.KeyID != \"\"", "bearer.Kind != key.Kind"}}},

	{"tokens", "no signature", []edit{{"gateway/authn/authenticator.go", "_, err := issuer.parser.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return key.public, nil }); err != nil", "_, _, err := issuer.parser.ParseUnverified(token, claims); err != nil && jwt.SigningMethodNone != nil"}}},
	{"tokens", "any header", []edit{{tokenFile, `return []string{"crit", "b64", "jku", "x5u", "jwk", "x5c"}`, "return nil"}}},
	{"tokens", "any audience", []edit{{"gateway/authn/tokencache.go", "audience != \"\" && slices.Contains", "audience != \"\" || slices.Contains"}}},
	{"tokens", "no expiry", []edit{{issuerFile, "		jwt.WithExpirationRequired(),\n", ""}, {"gateway/authn/claims.go", "	return start, p.expires.Add(leeway)", "	if p.expires == nil {\n		return start, start.AddDate(9000, 0, 0)\n	}\n	return start, p.expires.Add(leeway)"}}},
	{"tokens", "users who are not active", []edit{{principalFile, "	case identity.Status != resources.StatusActive:\n		return resources.Principal{}, refused(errInactiveUser)", "	case identity.Status == \"\":\n		return resources.Principal{}, refused(errInactiveUser)"}, {apiKeyFile, "	case owner.Status != resources.StatusActive:", "	case owner.Status == \"\":"}}},

	{"keys", "keys have all scopes", []edit{{apiKeyFile, "slices.Clone(identity.Key.Scopes)", "append(slices.Clone(identity.Key.Scopes), \"read\", \"write\")"}}},
	{"keys", "a secret that is another's", []edit{{apiKeyFile, "	case !match:", "	case !match && len(raw) == 0:"}}},
	{"keys", "keys that were revoked", []edit{{"resources/apikeys/revoke.go", "		rec.Value.RevokedAt = s.now()\n", ""}}},

	{"tenancy", "page tokens of anybody", []edit{{"resources/wire/pagetoken.go", "t.sealer.Seal(cursor, binding)", "t.sealer.Seal(cursor, \"\")"}, {"resources/wire/pagetoken.go", "t.sealer.Open(token, binding)", "t.sealer.Open(token, \"\")"}}},
	{"tenancy", "users of anybody", []edit{{"resources/users/member.go", "err != nil || rec == nil || rec.Value.AccountID != account", "err != nil || rec == nil"}}},
	{"tenancy", "idempotency keys of anybody", []edit{{"resources/idempotency/keeper.go", "digest(r.Principal.Kind, r.Principal.ID, r.Principal.AccountID, r.IdempotencyKey)", "digest(r.IdempotencyKey)"}, {"resources/idempotency/keeper.go", "digest(route, r.Path, r.Query, string(r.Body))", "digest(route, string(r.Body))"}}},

	{"roles", "more than one has", []edit{{"resources/access/service.go", "		if !decision.Allowed {\n			return resources.Forbidden(\"You cannot grant", "		if !decision.Allowed && q.Now == 0 {\n			return resources.Forbidden(\"You cannot grant"}}},
	{"roles", "the last admin", []edit{{"store/records/admins.go", "	if lasting(before) && !lasting(after) {", "	if lasting(before) && !lasting(after) && roleChange.AccountID == \"\" {"}, {"store/records/admins.go", "	if roleChange.Caller.Kind == resources.PrincipalUser && (", "	if roleChange.AccountID == \"\" && ("}}},

	{"input", "a name twice", []edit{{"resources/wire/stream.go", "jsontext.NewDecoder(bytes.NewBuffer(body))", "jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true))"}, {strictFile, "json.Unmarshal(raw, &out)", "json.Unmarshal(raw, &out, jsontext.AllowDuplicateNames(true))"}}},
	{"input", "addresses of two readings", []edit{{"resources/email.go", "&& plainLocalPart(s[:index]) ", "&& plainLocalPart(\"a\") "}}},

	{"load", "an evaluation takes its time", []edit{{boundsFile, "!now.Before(b.deadline)", "!now.Before(b.deadline.Add(time.Hour))"}}},
	{"load", "the engine catches no panic", []edit{{evaluateFile, "		if r := recover(); r != nil {\n			err", "		if r := any(nil); r != nil {\n			err"}, {"policies/engine/engine.go", "		if r := recover(); r != nil {", "		if r := any(nil); r != nil {"}}},
	{"load", "a policy calls what it likes", []edit{{capabilityFile, "(!judged || ", "(!judged && b.Name == \"\" || "}}},

	{"logs", "credentials are shown", []edit{{"resources/mask.go", "	if start < 0 {\n		return text\n", "	if start < 0 || end > 0 {\n		return text\n"}}},
	{"logs", "what a terminal obeys is written", []edit{{"cmd/portcullis/observe/printable.go", "!resources.Unseen(r) {", "(r > 0x7f || !resources.Unseen(r)) {"}}},
}

// TestMutantsFitTheProgram guarantees that a mutant's replaced text is there exactly once, and every class has mutants.
// A change of these lines needs a change of the mutant.
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
