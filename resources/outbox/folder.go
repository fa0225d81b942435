package outbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/durable"
)

// Folder is a folder that takes the place of a mail server. Each letter is a file that mail programs
// open. The log names the file and does not show its text.
type Folder struct {
	dir    string
	log    *slog.Logger
	writer *writer
}

// NewFolder makes a Folder. It makes the folder dir if there is none, readable by its owner only.
func NewFolder(dir string, log *slog.Logger) (*Folder, error) {
	letters, err := newWriter(defaultSender + "@localhost")
	if err != nil {
		return nil, fmt.Errorf("outbox: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("outbox: the folder for mails can't be made: %w", err)
	}
	return &Folder{dir: dir, log: log, writer: letters}, nil
}

// Deliver implements Deliverer. The file has the id of the message as its name. A file of that name is
// the letter of an earlier attempt and stays as it is.
func (f *Folder) Deliver(_ context.Context, m resources.Message) error {
	letter, err := f.writer.write(m)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	if _, err := letter.WriteTo(&body); err != nil {
		return err
	}
	path := filepath.Join(f.dir, m.ID+".eml")
	if err := publish(path, body.Bytes()); err != nil {
		return fmt.Errorf("the mail could not be written to the data folder: %w", err)
	}
	f.log.Info("mail written to the data folder, as there is no mail server",
		"message_id", m.ID, "to", m.To, "account_id", m.AccountID, "file", path)
	return nil
}

// publish writes a file at path in one step, unless there is one. It uses a link, since a rename
// would replace an existing file.
func publish(path string, content []byte) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	draft, err := os.CreateTemp(dir, ".draft-*") // readable by the owner only
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(draft.Name()) }()
	_, err = draft.Write(content)
	if err = errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return err
	}
	if err := os.Link(draft.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// The record of the message is deleted next, so the name of the file must be on disk before.
	return durable.SyncDir(dir)
}
