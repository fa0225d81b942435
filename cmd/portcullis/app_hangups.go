package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/portcullis-authz/portcullis/cmd/portcullis/observe"
	"github.com/portcullis-authz/portcullis/gateway/listen"
)

// hangups holds the signals of an operator to read files again: one channel for each part with files of its own.
type hangups struct{ all, certificates, policy chan os.Signal }

// catchHangups keeps SIGHUP from ending the process. stop gives it back.
func catchHangups() (h hangups, stop func()) {
	h = hangups{make(chan os.Signal, 1), make(chan os.Signal, 1), make(chan os.Signal, 1)}
	signal.Notify(h.all, syscall.SIGHUP)
	return h, func() { signal.Stop(h.all) }
}

// followHangups has all files read again on each signal, until ctx ends. Each bad file is one warning, and its last
// good content stays in use.
func (a *app) followHangups(ctx context.Context, h hangups) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-h.all:
			a.log.Info("SIGHUP: files are read again")
			pass(h.certificates, s)
			pass(h.policy, s)
			for _, file := range a.keyFiles {
				file.Reread()
			}
			if level, err := a.settings.ReadLevel(); err != nil {
				a.log.Warn("the configuration file can't be read; the log level stays", "error", err.Error())
			} else {
				a.log.SetLevel(level)
			}
		}
	}
}

// pass hands a signal on, unless one waits already.
func pass(target chan<- os.Signal, s os.Signal) {
	select {
	case target <- s:
	default:
	}
}

// readCertificates reads the certificates of the edge's listeners, if they speak TLS.
func (a *app) readCertificates(files listen.CertificateFiles) (err error) {
	if files.Cert == "" {
		return nil
	}
	if a.certificates, err = listen.ReadCertificates(files, time.Now); err != nil {
		return fmt.Errorf("TLS: %w", err)
	}
	a.metrics.WatchCertificates(a.certificates.Ends)
	return nil
}

// certificatesReloaded counts and logs a change of the files.
func (a *app) certificatesReloaded(err error) {
	a.metrics.CertificatesReloaded(err == nil)
	tellCertificates(a.log, a.certificates, err)
}

// tellCertificates logs a change of the files.
func tellCertificates(log *observe.Log, certificates *listen.Certificates, err error) {
	if err != nil {
		log.Warn("TLS: changed files refused; the last good ones stay in use", "error", err.Error())
		return
	}
	log.Info("TLS: changed files taken into use", "certificate_ends", certificates.Ends().UTC())
}
