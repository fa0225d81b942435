package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"time"
)

// The members of a backup file, in this order.
const (
	manifestName = "manifest.json"
	sumName      = "manifest.json.sha256"
	databaseName = "portcullis.db"
)

// format is the number of the layout of a backup file.
const format = 1

// Manifest says what a backup file holds.
type Manifest struct {
	// Format is the number of the file's layout; Write sets it.
	Format int `json:"format"`
	// Version is the version of the program for this backup.
	Version string    `json:"version"`
	MadeAt  time.Time `json:"made_at"`
	// Generation and Epoch are the store's at the instant of the backup.
	Generation string `json:"generation"`
	Epoch      int64  `json:"epoch"`
	// Database describes the database file; Write fills it in.
	Database Database `json:"database"`
}

// Database is the size in bytes and the SHA-256 of the database file.
type Database struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// sumOf returns the line that sha256sum writes of a manifest.
func sumOf(manifest []byte) []byte {
	return fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(manifest), manifestName)
}

// describe returns the size and the SHA-256 of a database file.
func describe(path string) (Database, error) {
	f, err := os.Open(path)
	if err != nil {
		return Database{}, err
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return Database{Size: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}
