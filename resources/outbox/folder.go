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
)

// Folder stands in for a mail server: each letter becomes a file that mail programs
// open, and a line in the log without its text.
type Folder struct {
	dir    string
	log    *slog.Logger
	writer *writer
}

// NewFolder writes into dir, which is made for the owner alone if it is not there.
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

// Deliver implements Deliverer. The file is named after the message, so one that is
// there already is this letter, from before a crash: it stays as it is.
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

// publish makes a whole file appear under that name, if it is free: a link, unlike a
// rename, replaces nothing.
func publish(path string, content []byte) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	draft, err := os.CreateTemp(dir, ".draft-*") // for the owner alone
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
	// The record is deleted next; the name has to be on the disk before.
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
