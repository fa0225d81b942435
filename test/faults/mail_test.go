package faults_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/test/harness"
	"github.com/portcullis-authz/portcullis/test/must"
	"github.com/portcullis-authz/portcullis/test/servers"
)

// mailbox is a mail server that keeps what it takes.
type mailbox struct {
	mu      sync.Mutex
	letters []string // recipient, line break, text
}

// listen serves the address until the test ends.
func (m *mailbox) listen(t testing.TB, address string) {
	t.Helper()
	l := must.Get(net.Listen("tcp", address))(t)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go m.serve(conn)
		}
	}()
}

// serve is one conversation.
func (m *mailbox) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	r := bufio.NewReader(conn)
	say := func(text string) { _, _ = io.WriteString(conn, text+"\r\n") }
	say("220 mail.test ESMTP")
	target := ""
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		switch word, rest, _ := strings.Cut(strings.TrimSpace(line), ":"); strings.ToUpper(word) {
		case "RCPT TO":
			target = strings.Trim(rest, "<>")
			say("250 ok")
		case "DATA":
			say("354 go on")
			var text strings.Builder
			for line, err = r.ReadString('\n'); err == nil && line != ".\r\n"; line, err = r.ReadString('\n') {
				text.WriteString(line)
			}
			if err != nil {
				return
			}
			m.mu.Lock()
			m.letters = append(m.letters, target+"\n"+text.String())
			m.mu.Unlock()
			say("250 taken")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

// sentTo are the letters to the address.
func (m *mailbox) sentTo(address string) (out []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, letter := range m.letters {
		if text, ok := strings.CutPrefix(letter, address+"\n"); ok {
			out = append(out, text)
		}
	}
	return out
}

// mailServerDown guarantees that the invitation is answered at once, and the gateway stays ready. A
// later server gets the letter exactly once, also if the gateway was killed in between.
func mailServerDown(killed bool) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		address, email := servers.Address(t), "late@mail.example"
		flags := []string{"--smtp-url", "smtp://" + address + "?tls=none&from=us@portcullis.example&helo=gate.example"}
		s := harness.StartTeam(t, flags...)
		started := time.Now()
		harness.WantMessage(t, "user.invite", s.Invite(t, email))
		if took := time.Since(started); took > 5*time.Second {
			t.Errorf("the invitation took %s", took)
		}
		s.WantReady(t, 200)
		harness.Soon(t, "a delivery failed", func() bool { return strings.Contains(s.Stderr.String(), address) })
		g := s.Gateway
		if killed {
			g.Kill(t)
			g = harness.StartIn(t, g.DataDir, flags...)
		}
		server := &mailbox{}
		server.listen(t, address)
		harness.SoonWithin(t, 2*time.Minute, "the letter is delivered", func() bool { return len(server.sentTo(email)) > 0 })
		g.Drained(t)
		letters := server.sentTo(email)
		if len(letters) != 1 || !strings.Contains(letters[0], "Subject: You are invited to ") {
			t.Errorf("%d letters: %q", len(letters), letters)
		}
	}
}
