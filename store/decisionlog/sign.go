package decisionlog

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"slices"
)

// keys sign what closes a segment and what retention has left. The first key signs, all of them check.
type keys struct{ private []ed25519.PrivateKey }

// newKeys makes keys of secrets of 32 bytes each.
func newKeys(secrets [][]byte) keys {
	var k keys
	for _, secret := range secrets {
		k.private = append(k.private, ed25519.NewKeyFromSeed(secret))
	}
	return k
}

func (k keys) sign(statement string) string {
	return base64.RawURLEncoding.EncodeToString(ed25519.Sign(k.private[0], []byte(statement)))
}

func (k keys) signed(statement, signature string) bool {
	raw, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(k.private, func(key ed25519.PrivateKey) bool {
		return ed25519.Verify(key.Public().(ed25519.PublicKey), []byte(statement), raw)
	})
}

// end closes a segment.
type end struct {
	Segment int64  `json:"segment"`
	Lines   int64  `json:"lines"`
	At      string `json:"at"`
	// Cut is how many bytes of a torn tail a start has cut off.
	Cut       int64  `json:"cut,omitzero"`
	Signature string `json:"signature"`
}

// statement returns what is signed of the end of a segment whose last other line has this hash.
func (e *end) statement(log, last string) string {
	return fmt.Sprintf("portcullis decision log: end\n%s\n%d\n%d\n%s\n%d\n%s", log, e.Segment, e.Lines, e.At, e.Cut, last)
}

// statement returns what is signed of a head.
func (h *Head) statement() string {
	return fmt.Sprintf("portcullis decision log: head\n%s\n%d\n%d\n%s", h.Log, h.Segment, h.Line, h.Hash)
}

// beginning is what retention leaves: where the log begins now.
type beginning struct {
	Log string `json:"log"`
	// Segment is the first that is kept, Prev the hash of the line before it.
	Segment   int64  `json:"segment"`
	Prev      string `json:"prev"`
	At        string `json:"at"`
	Signature string `json:"signature"`
}

func (b *beginning) statement() string {
	return fmt.Sprintf("portcullis decision log: beginning\n%s\n%d\n%s\n%s", b.Log, b.Segment, b.Prev, b.At)
}
