package api_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// secrets are all that tests made and nobody may see, and all that processes under test wrote;
// when the tests are done, the one is looked for in the other. A token is as good as its signature.
type secrets struct {
	mu      sync.Mutex
	outputs []*syncBuffer
	// names are what is secret, by the first bytes of each form in which it could be shown.
	names map[string][]shownForm
	// words are too short for that: passwords.
	words map[string]string
}

type shownForm struct{ name, text string }

// headBytes is how much of a secret is looked up; a shorter one is a word.
const headBytes = 24

// theSecrets are those of the whole run.
var theSecrets secrets

func (s *secrets) watch(outputs ...*syncBuffer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outputs = append(s.outputs, outputs...)
}

// add marks a secret, with the forms into which JSON and tools turn bytes.
func (s *secrets) add(name, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names == nil {
		s.names, s.words = map[string][]shownForm{}, map[string]string{}
	}
	if len(secret) < headBytes+3 {
		s.words[secret] = name
		return
	}
	forms := []string{secret, hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret)))}
	for skip := range 3 {
		whole := secret[skip : skip+(len(secret)-skip)/3*3] // else the neighbours are in its ends
		forms = append(forms, base64.RawStdEncoding.EncodeToString([]byte(whole)), base64.RawURLEncoding.EncodeToString([]byte(whole)))
	}
	for _, form := range forms {
		head := form[:headBytes]
		if !slices.Contains(s.names[head], shownForm{name, form}) {
			s.names[head] = append(s.names[head], shownForm{name, form})
		}
	}
}

// token marks a signed token.
func (s *secrets) token(token string) { s.add("a token", token[strings.LastIndex(token, ".")+1:]) }

// made marks a key that an answer shows once.
func (s *secrets) made(r reply) {
	const prefix, id = "pcl_sk_live_", 26
	if key, _ := at(r.Body, "data", "raw_key").(string); len(key) > len(prefix)+id {
		s.add("an API key", key[len(prefix)+id:])
	}
}

// settings marks what is secret in the flags of a process and in its folder.
func (s *secrets) settings(dataDir string, args []string) {
	files := []string{filepath.Join(dataDir, "master.key")}
	for i, arg := range args {
		if u, err := url.Parse(arg); err == nil && u.User != nil {
			if password, there := u.User.Password(); there && password != "" {
				s.add("a password", password)
			}
		}
		if arg == "--master-key-file" && i+1 < len(args) {
			files = append(files, args[i+1])
		}
	}
	for _, file := range files {
		text, _ := os.ReadFile(file) // one that is not there has no key
		for line := range strings.FieldsSeq(string(text)) {
			s.add("a master key", line)
		}
	}
}

// found tells which secrets stand in the outputs.
func (s *secrets) found() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []string
	for _, output := range s.outputs {
		for line := range strings.Lines(output.String()) {
			if name := s.in(line); name != "" {
				found = append(found, fmt.Sprintf("an output of the program shows %s: %.400s", name, line))
			}
		}
	}
	return found[:min(len(found), 20)]
}

// in names a secret in the text, "" where there is none.
func (s *secrets) in(text string) string {
	for word, name := range s.words {
		if strings.Contains(text, word) {
			return name
		}
	}
	run := 0 // how many bytes until here could be of a form
	for i := range len(text) {
		if run++; !isOfForm(text[i]) {
			run = 0
		}
		if run < headBytes {
			continue
		}
		from := i + 1 - headBytes
		for _, form := range s.names[text[from:i+1]] {
			if strings.HasPrefix(text[from:], form.text) {
				return form.name
			}
		}
	}
	return ""
}

func isOfForm(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '+' || c == '/' || c == '='
}

// TestSecretsInOutputsAreFound, in each form and in the middle of a line; what only begins like
// one is none.
func TestSecretsInOutputsAreFound(t *testing.T) {
	t.Parallel()
	const secret = "0123456789abcdefghijklmnopqrstuvwxyzABCDEF"
	for form, text := range map[string]string{
		"as it is": secret, "in a value": `{"x":"y` + secret + `z"}`, "in base64": base64.StdEncoding.EncodeToString([]byte("x" + secret + "yz")), "in base64url": base64.URLEncoding.EncodeToString([]byte(secret)), "in hexadecimal": fmt.Sprintf("%x", secret), "in upper case": fmt.Sprintf("%X", secret),
		"a password": "postgres://u:short@h", "nothing": "", "its beginning": secret[:30], "its end": secret[5:],
	} {
		var s secrets
		output := &syncBuffer{}
		s.watch(output)
		s.add("the secret", secret)
		s.add("a password", "short")
		_, _ = fmt.Fprintf(output, "a line\nmore %s and more\n", text)
		if want := form != "nothing" && !strings.HasPrefix(form, "its "); (len(s.found()) == 1) != want {
			t.Errorf("%s: %q", form, s.found())
		}
	}
}
