package secrets

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Secrets are all secrets made by tests, and all output of processes under test. After the tests they are looked for in
// it. A token is as good as its signature.
type Secrets struct {
	mu      sync.Mutex
	outputs []fmt.Stringer
	// names are what is secret, by the first bytes of each form in which it could be shown.
	names map[string][]shownForm
	// words are too short for that: passwords.
	words map[string]string
}

type shownForm struct{ name, text string }

// headBytes is how much of a secret is looked up; a shorter one is a word.
const headBytes = 24

// Watch adds outputs in which no secret may stand.
func (s *Secrets) Watch(outputs ...fmt.Stringer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outputs = append(s.outputs, outputs...)
}

// add marks a secret, with the forms into which JSON and tools turn bytes.
func (s *Secrets) add(name, secret string) {
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

// Token marks a signed token.
func (s *Secrets) Token(token string) { s.add("a token", token[strings.LastIndex(token, ".")+1:]) }

// Key marks an API key, which an answer shows once.
func (s *Secrets) Key(key string) {
	const prefix, id = "pcl_sk_live_", 26
	if len(key) > len(prefix)+id {
		s.add("an API key", key[len(prefix)+id:])
	}
}

// Settings marks what is secret in the flags of a process and in its folder.
func (s *Secrets) Settings(dataDir string, args []string) {
	files := []string{filepath.Join(dataDir, "master.key")}
	for i, arg := range args {
		if u, err := url.Parse(arg); err == nil && u.User != nil {
			if password, exists := u.User.Password(); exists && password != "" {
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

// Found names the secrets in the outputs.
func (s *Secrets) Found() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, output := range s.outputs {
		for line := range strings.Lines(output.String()) {
			if name := s.find(line); name != "" {
				names = append(names, fmt.Sprintf("an output of the program shows %s: %.400s", name, line))
			}
		}
	}
	return names[:min(len(names), 20)]
}

// find names a secret in the text, "" for none.
func (s *Secrets) find(text string) string {
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
		start := i + 1 - headBytes
		for _, form := range s.names[text[start:i+1]] {
			if strings.HasPrefix(text[start:], form.text) {
				return form.name
			}
		}
	}
	return ""
}

func isOfForm(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '+' || c == '/' || c == '='
}

// Shows says whether the text has the secret in it: plain, in capital letters, in base64 at any place of a longer text,
// or in hexadecimal.
func Shows(text, secret []byte) bool {
	forms := []string{string(secret), strings.ToUpper(string(secret)), hex.EncodeToString(secret), strings.ToUpper(hex.EncodeToString(secret))}
	for skip := range 3 {
		whole := secret[skip : skip+(len(secret)-skip)/3*3] // else the neighbours are in its ends
		forms = append(forms, base64.StdEncoding.EncodeToString(whole))
	}
	for _, form := range forms {
		if bytes.Contains(text, []byte(form)) {
			return true
		}
	}
	return false
}
