package outbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portcullis-authz/portcullis/resources/outbox"
	"github.com/portcullis-authz/portcullis/test/must"
)

func (s *scene) folder() (*outbox.Folder, string) {
	s.Helper()
	dir := filepath.Join(s.TempDir(), "data", "mail")
	f := must.Get(outbox.NewFolder(dir, s.log))(s)
	return f, dir
}

func TestWithoutAServerTheMailIsAFileAndALogLine(t *testing.T) {
	s := newScene(t)
	f, dir := s.folder()
	m := s.invite("Acme\r\nBcc: eve@example.com", "bob@example.org")
	s.once(s.worker(f, nil), 1)
	if s.read(m.ID) != nil {
		t.Error("the message is still there")
	}
	path := filepath.Join(dir, m.ID+".eml")
	raw := must.Get(os.ReadFile(path))(t)
	p := parse(t, string(raw))
	if p.subject != "You are invited to Acme Bcc: eve@example.com" || p.header.Get("To") != "<bob@example.org>" ||
		p.header.Get("Message-Id") != "<"+m.ID+"@localhost>" || p.text == "" || p.html == "" {
		t.Errorf("letter %+v", p)
	}
	for place, mode := range map[string]os.FileMode{path: 0o600, dir: 0o700 | os.ModeDir} {
		if info, err := os.Stat(place); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", place, info.Mode(), err)
		}
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("in the folder: %v", names)
	}
	logged := s.logs.String()
	for _, want := range []string{m.ID, "bob@example.org", "acct-1-v1"} {
		if !strings.Contains(logged, want) {
			t.Errorf("no %s in %s", want, logged)
		}
	}
	if strings.Contains(logged, "Sign in") || strings.Contains(logged, "Acme") {
		t.Errorf("the log has the letter: %s", logged)
	}
}

func TestFileThatIsThereStaysAsItIs(t *testing.T) {
	s := newScene(t)
	f, dir := s.folder()
	m := s.invite("Acme", "bob@example.org")
	path := filepath.Join(dir, m.ID+".eml")
	must.Do(t, os.WriteFile(path, []byte("before"), 0o600))
	s.once(s.worker(f, nil), 1)
	if raw, _ := os.ReadFile(path); string(raw) != "before" || s.read(m.ID) != nil {
		t.Errorf("now %q", raw)
	}
	if names, _ := os.ReadDir(dir); len(names) != 1 {
		t.Errorf("in the folder: %v", names)
	}
}

func TestMessageIDCanNotLeaveTheFolder(t *testing.T) {
	s := newScene(t)
	f, dir := s.folder()
	for _, id := range []string{"../x", "a/b", "", "a\x00b", "a@b", strings.Repeat("a", 200)} {
		m := message("Acme", "bob@example.org")
		m.ID = id
		if err := f.Deliver(t.Context(), m); !outbox.IsPermanent(err) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if names, _ := os.ReadDir(filepath.Dir(dir)); len(names) != 1 {
		t.Errorf("beside the folder: %v", names)
	}
}

// A removed folder is made again; an unwritable one fails for now.
func TestFolderThatWentAway(t *testing.T) {
	s := newScene(t)
	f, dir := s.folder()
	must.Do(t, os.Remove(dir))
	must.Do(t, os.WriteFile(dir, nil, 0o600))
	if err := f.Deliver(t.Context(), message("Acme", "bob@example.org")); err == nil || outbox.IsPermanent(err) {
		t.Errorf("error %v", err)
	}
	if _, err := outbox.NewFolder(dir, s.log); err == nil {
		t.Error("a file was taken for a folder")
	}
	must.Do(t, os.Remove(dir))
	if err := f.Deliver(t.Context(), message("Acme", "bob@example.org")); err != nil {
		t.Error(err)
	}
}
