package observe

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/portcullis-authz/portcullis/resources"
)

// Printable returns a writer that takes one line a Write and writes it to w with its
// credentials masked and its invisible characters escaped. Every line of the program goes
// through it but the lines of requests that can hold neither (accessLog).
func Printable(w io.Writer) io.Writer { return printable{w} }

type printable struct{ w io.Writer }

// Write implements io.Writer.
func (p printable) Write(line []byte) (int, error) {
	if _, err := io.WriteString(p.w, escape(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}

// escape returns a line with its credentials masked, and with characters that a reader would not see
// escaped as JSON and Go do. A newline at its end stays.
func escape(line string) string {
	line, ended := strings.CutSuffix(line, "\n")
	line = resources.MaskCredentials(line)
	var out strings.Builder
	done := 0
	for i, r := range line {
		if ' ' <= r && r < 0x7f || r != utf8.RuneError && !resources.Unseen(r) {
			continue
		}
		out.WriteString(line[done:i])
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		} else {
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		_, size := utf8.DecodeRuneInString(line[i:])
		done = i + size
	}
	out.WriteString(line[done:])
	if ended {
		out.WriteByte('\n')
	}
	return out.String()
}
