package message

import (
	"encoding/binary"
	"errors"

	"github.com/go-json-experiment/json"

	"github.com/portcullis-authz/portcullis/resources"
)

// maxSealed limits a sealed id, in characters.
const maxSealed = 4096

// IDs seals the ids of sessions, tasks, events and requests for one caller. Every replica with the same keys can open a
// sealed id, so no replica stores ids.
type IDs struct{ sealer resources.Sealer }

// NewIDs takes keys of 32 bytes. Seal uses the first key, Open tries all of them.
func NewIDs(keys [][]byte) (IDs, error) {
	if len(keys) == 0 {
		return IDs{}, errors.New("sealing ids needs a key")
	}
	sealer, err := resources.NewSealer(keys)
	return IDs{sealer}, err
}

// Purpose is the kind of a sealed id.
type Purpose string

// Purposes of ids. Open never returns a session's id as a task's.
const (
	SessionID Purpose = "mcp-session"
	TaskID    Purpose = "mcp-task"
	EventID   Purpose = "mcp-event"
	// RequestID is for requests of a server to its client.
	RequestID Purpose = "mcp-request"
)

// Caller is the caller for whom an id is sealed. Upstream is the id's. Agent is "" for a user without an agent.
type Caller struct{ Upstream, Server, Account, User, Agent string }

// Seal encrypts an id of the server. The result is URL-safe Base64, for headers and JSON strings.
func (s IDs) Seal(purpose Purpose, id string, c Caller) string {
	return s.sealer.Seal([]byte(id), c.binding(purpose))
}

// Open decrypts a sealed id. It returns false unless Seal made it for the same purpose and caller.
func (s IDs) Open(purpose Purpose, sealed string, c Caller) (string, bool) {
	if len(sealed) > maxSealed {
		return "", false
	}
	id, ok := s.sealer.Open(sealed, c.binding(purpose))
	return string(id), ok
}

// Handle is an id of a server that belongs to rows, and to one path of the server at the gateway.
type Handle struct {
	ID    string   `json:"id"`
	Place string   `json:"place"`
	Rows  []string `json:"rows"`
	// Tasks has the client's id of each task of an event's stream by the server's id.
	Tasks map[string]string `json:"tasks,omitempty"`
}

// SealHandle encrypts a handle. It returns false if the sealed id would be too long.
func (s IDs) SealHandle(purpose Purpose, h Handle, c Caller) (string, bool) {
	raw, err := json.Marshal(h)
	sealed := s.Seal(purpose, string(raw), c)
	return sealed, err == nil && len(sealed) <= maxSealed
}

// OpenHandle decrypts a sealed handle. It returns false unless SealHandle made it for the same purpose and caller.
func (s IDs) OpenHandle(purpose Purpose, sealed string, c Caller) (h Handle, ok bool) {
	opened, ok := s.Open(purpose, sealed, c)
	if !ok || json.Unmarshal([]byte(opened), &h) != nil {
		return Handle{}, false
	}
	return h, true
}

// binding encodes purpose and caller. The length of each part precedes it, so different callers have different bindings.
func (c Caller) binding(purpose Purpose) string {
	var out []byte
	for _, part := range []string{string(purpose), c.Upstream, c.Server, c.Account, c.User, c.Agent} {
		out = append(binary.AppendUvarint(out, uint64(len(part))), part...)
	}
	return string(out)
}
