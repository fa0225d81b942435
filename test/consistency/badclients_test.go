package consistency_test

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// badClient misuses a connection. do returns the answers that it read.
type badClient struct {
	name string
	do   func(s *storm, c *net.TCPConn) []*http.Response
}

// storm runs many bad clients at once.
type storm struct {
	*world
	p    place
	stop <-chan struct{}
	mu   sync.Mutex
	seen map[string]int
}

// stormTime bounds a connection of a bad client.
const stormTime = 5 * time.Second

var badClients = []badClient{
	{"malformed framing", malformed},
	{"slow headers", func(s *storm, c *net.TCPConn) []*http.Response {
		return s.slowly(c, s.head("")+"X-Slow: ", "a")
	}},
	{"slow body", func(s *storm, c *net.TCPConn) []*http.Response {
		return s.slowly(c, s.head("Content-Type: application/json\r\nContent-Length: 100000\r\n")+"\r\n", " ")
	}},
	{"unread answers", func(s *storm, c *net.TCPConn) []*http.Response {
		_, _ = io.WriteString(c, strings.Repeat(s.head("")+"\r\n", 200))
		sleep(between(100*time.Millisecond, time.Second), s.stop)
		return nil
	}},
	{"cut in the middle", func(s *storm, c *net.TCPConn) []*http.Response {
		whole := s.head("Content-Type: application/json\r\nContent-Length: 20\r\n") + "\r\n{\"a\":"
		_, _ = io.WriteString(c, whole[:mathrand.IntN(len(whole))])
		_ = c.SetLinger(0) // a reset, not an end
		return nil
	}},
	{"a thousand headers", func(s *storm, c *net.TCPConn) []*http.Response {
		var b strings.Builder
		long := mathrand.IntN(2) * 50 // above or below the limit of a head
		for i := range 1000 {
			fmt.Fprintf(&b, "X-Header-%d: %s\r\n", i, strings.Repeat("v", long))
		}
		return s.exchange(c, s.head(b.String())+"\r\n")
	}},
	{"invalid tokens", func(s *storm, c *net.TCPConn) (all []*http.Response) {
		r := bufio.NewReader(c)
		for range 100 {
			forged := s.checker[:strings.LastIndex(s.checker, ".")+1] + strings.Repeat(rand.Text(), 4)[:86]
			if mathrand.IntN(2) == 0 {
				forged = rand.Text()
			}
			_, _ = io.WriteString(c, strings.Replace(s.head(""), s.checker, forged, 1)+"\r\n")
			one := answered(r)
			if one == nil {
				break
			}
			all = append(all, one)
		}
		return all
	}},
	{"a body that is too large", func(s *storm, c *net.TCPConn) []*http.Response {
		return s.exchange(c, s.head("Content-Type: application/json\r\nContent-Length: 3145728\r\n")+"\r\n"+strings.Repeat(" ", 3<<20))
	}},
}

// malformed sends a spoilt head of a question with the answer allow.
func malformed(s *storm, c *net.TCPConn) []*http.Response {
	good := s.head("") + "\r\n"
	spoil := [][2]string{
		{"POST ", "POST  "},
		{" HTTP/1.1", " HTTP/1.2"},
		{" HTTP/1.1", ""},
		{"Host: ", "Host : "},
		{"Host: ", "Host:\x00"},
		{"gateway\r\n", "gateway\n"},
		{"\r\nHost", "\r\n Host"},
		{"X-User-ID: ", "X-User-ID: user-else-v1\r\nX-User-ID: "},
		{"X-User-ID", "X_User_ID: user-else-v1\r\nX-User-ID"},
		{"\r\n\r\n", "\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}}"},
		{"\r\n\r\n", "\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{"\r\n\r\n", "\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"},
		{"\r\n\r\n", "\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"},
		{"\r\n\r\n", "\r\nContent-Length: -1\r\n\r\n"},
		{"/projects/", "/../projects/"},
		{"/projects/", "/%2e%2e/projects/"},
		{"POST /", "POST http://gateway/"},
	}
	pick := spoil[mathrand.IntN(len(spoil))]
	return s.exchange(c, strings.Replace(good, pick[0], pick[1], 1))
}

// head returns the head of a question about the admin, whom policy allows, without the empty line at its end.
func (s *storm) head(more string) string {
	return "POST /api/v1/authorize/accounts/" + s.p.account + "/projects/" + s.p.project + "/x HTTP/1.1\r\nHost: gateway\r\n" +
		"Authorization: Bearer " + s.checker + "\r\nX-User-ID: " + s.p.admin + "\r\nX-Account-ID: " + s.p.account +
		"\r\nX-Action: " + action + "\r\n" + more
}

// exchange sends the text and reads one answer at the same time.
func (s *storm) exchange(c *net.TCPConn, text string) []*http.Response {
	var sent sync.WaitGroup
	sent.Go(func() { _, _ = io.WriteString(c, text) })
	one := answered(bufio.NewReader(c))
	_ = c.CloseWrite() // together with the deadline it ends the writer if the gateway stopped reading
	_ = c.SetWriteDeadline(time.Now())
	sent.Wait()
	if one == nil {
		return nil
	}
	return []*http.Response{one}
}

// slowly sends the text drop every 50 ms, for 0.1 to 3 seconds.
func (s *storm) slowly(c *net.TCPConn, begin, drop string) []*http.Response {
	_, err := io.WriteString(c, begin)
	for end := time.Now().Add(between(100*time.Millisecond, 3*time.Second)); err == nil && time.Now().Before(end) && !stopped(s.stop); {
		sleep(50*time.Millisecond, s.stop)
		_, err = io.WriteString(c, drop)
	}
	return nil
}

// answered reads an answer to its end; nil if there is none.
func answered(r *bufio.Reader) *http.Response {
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return nil
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil
	}
	resp.Body = io.NopCloser(strings.NewReader(string(body)))
	return resp
}

// rage runs bad clients, one after the other, until stop is closed.
func (s *storm) rage() {
	for !stopped(s.stop) {
		bad := badClients[mathrand.IntN(len(badClients))]
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.any().url, "http://"))
		if err != nil {
			s.note(bad.name+": no connection", nil)
			continue
		}
		c := conn.(*net.TCPConn)
		_ = c.SetDeadline(time.Now().Add(stormTime))
		answers := bad.do(s, c)
		_ = c.Close()
		s.note(bad.name, answers)
	}
}

// note counts a bad client, and reports answers of success and of internal errors as violations.
func (s *storm) note(name string, answers []*http.Response) {
	s.mu.Lock()
	s.seen[name]++
	s.mu.Unlock()
	for _, a := range answers {
		body, err := io.ReadAll(a.Body)
		switch {
		case err != nil || a.StatusCode == http.StatusServiceUnavailable:
		case a.StatusCode >= http.StatusInternalServerError && a.StatusCode != http.StatusNotImplemented && a.StatusCode != http.StatusHTTPVersionNotSupported:
			s.h.violated(fmt.Sprintf("%s: %d %s", name, a.StatusCode, body))
		case a.StatusCode < http.StatusBadRequest:
			s.h.violated(fmt.Sprintf("%s was served: %d %s", name, a.StatusCode, body))
		}
	}
}
