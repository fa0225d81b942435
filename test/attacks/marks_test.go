package attacks_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"unicode"
)

// marks are secrets that may stand in no output, by what they are.
type marks struct{ forms []markedForm }

// markedForm is one way in which a secret could be shown.
type markedForm struct{ name, text string }

// add marks a secret, and the forms into which programs turn text.
func (m *marks) add(name, secret string) {
	quoted, _ := json.Marshal(secret) // a string always renders
	for form, text := range map[string]string{
		"": secret, " in JSON": strings.Trim(string(quoted), `"`), " in a URL": url.QueryEscape(secret), " in a path": url.PathEscape(secret),
		" in hexadecimal": hex.EncodeToString([]byte(secret)), " in base64": base64.StdEncoding.EncodeToString([]byte(secret)),
		" in base64url": base64.RawURLEncoding.EncodeToString([]byte(secret)),
	} {
		m.forms = append(m.forms, markedForm{name + form, text})
	}
}

// token marks a token's signature: its other parts are what everybody may know.
func (m *marks) token(name, token string) {
	m.add(name, token[strings.LastIndex(token, ".")+1:])
}

// find names the first secret that stands in a text, "" if there is none.
func (m *marks) find(text string) string {
	for _, form := range m.forms {
		if strings.Contains(text, form.text) {
			return form.name
		}
	}
	return ""
}

// searchOutput looks for secrets in the metrics and the log. The log must have one line of JSON for each event, without
// control characters.
func (r *refusals) searchOutput() {
	if mark := r.w.marks.find(r.w.metrics()); mark != "" {
		r.fault("the metrics show %s", mark)
	}
	log := r.w.stop()
	if mark := r.w.marks.find(log); mark != "" {
		r.fault("the log shows %s", mark)
	}
	for line := range strings.Lines(log) {
		if !json.Valid([]byte(line)) || strings.ContainsFunc(strings.TrimSuffix(line, "\n"), unseen) {
			r.fault("no whole line of the log: %.300q", line)
		}
		if strings.Contains(line, "goroutine ") { // the stack of a panic that nobody reckoned with
			r.fault("a panic: %.2000s", line)
		}
	}
}

// unseen says whether a terminal would obey a character, or show nothing for it.
func unseen(r rune) bool { return !unicode.IsPrint(r) }
