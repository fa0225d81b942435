package message

import (
	"encoding/binary"
	"errors"

	"github.com/portcullis-authz/portcullis/resources"
)

// maxSealed bounds a sealed id in characters.
const maxSealed = 4096

// IDs seals the ids of a server's sessions and tasks for the one caller who got them. Its own text is the only record of
// an id: all replicas open what one has sealed.
type IDs struct{ sealer resources.Sealer }

// NewIDs takes keys of 32 bytes. Seal uses the first one, Open all of them.
func NewIDs(keys [][]byte) (IDs, error) {
	if len(keys) == 0 {
		return IDs{}, errors.New("no key to seal ids with")
	}
	sealer, err := resources.NewSealer(keys)
	return IDs{sealer}, err
}

// Purpose is what an id is of.
type Purpose string

// Purposes of ids. One of a session is never one of a task.
const (
	SessionID Purpose = "mcp-session"
	TaskID    Purpose = "mcp-task"
)

// Caller is for whom an id is sealed. Agent is "" for a user without one.
type Caller struct{ Server, Account, User, Agent string }

// Seal returns an id of the server in letters of Base64 for URLs: a header and a JSON string may have them.
func (s IDs) Seal(purpose Purpose, id string, c Caller) string {
	return s.sealer.Seal([]byte(id), c.binding(purpose))
}

// Open returns the server's id if Seal has made the sealed one for the same purpose and caller, otherwise false.
func (s IDs) Open(purpose Purpose, sealed string, c Caller) (string, bool) {
	if len(sealed) > maxSealed {
		return "", false
	}
	id, ok := s.sealer.Open(sealed, c.binding(purpose))
	return string(id), ok
}

// binding names purpose and caller. Each part has its length before it, so that no two callers share a binding.
func (c Caller) binding(purpose Purpose) string {
	var out []byte
	for _, part := range []string{string(purpose), c.Server, c.Account, c.User, c.Agent} {
		out = append(binary.AppendUvarint(out, uint64(len(part))), part...)
	}
	return string(out)
}
