package message

import (
	"net/http"
	"strings"
	"unicode/utf8"
)

// Codes of JSON-RPC errors. MCP defines the last four.
const (
	CodeParse              = -32700
	CodeInvalidRequest     = -32600
	CodeMethodNotFound     = -32601
	CodeInvalidParams      = -32602
	CodeInternal           = -32603
	CodeDenied             = -32001
	CodeHeaderMismatch     = -32020
	CodeUnsupportedVersion = -32022
	// CodeElicitation is a server's error that sends the client's user to a URL.
	CodeElicitation = -32042
)

// Fault is an error in a message. The door does not judge such a message.
type Fault struct {
	// Status is the HTTP status.
	Status int
	Code   int
	// Text names field, problem and remedy. It quotes at most the beginning of a value.
	Text string
	// ID is the raw id of the request, or nil if it is unknown.
	ID   []byte
	Data []Member
}

// Body renders the fault as a JSON-RPC error.
func (f *Fault) Body() []byte { return Error(f.ID, f.Code, f.Text, f.Data...) }

// badRequest is a fault with status 400.
func badRequest(id []byte, code int, text string, data ...Member) *Fault {
	return &Fault{Status: http.StatusBadRequest, Code: code, Text: text, ID: id, Data: data}
}

// clip shortens a value of the client to 128 characters.
func clip(s string) string {
	const limit = 128
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "…"
}
