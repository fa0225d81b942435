package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/listen"
)

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

// watchCertificates takes changed files into use until ctx ends. On a signal it looks at once.
func (a *app) watchCertificates(ctx context.Context, hangup <-chan os.Signal) {
	if a.certificates != nil {
		go a.certificates.Watch(ctx, hangup, a.certificatesReloaded)
	}
}

// certificatesReloaded counts and logs a change of the files.
func (a *app) certificatesReloaded(err error) {
	a.metrics.CertificatesReloaded(err == nil)
	if err != nil {
		a.log.Warn("TLS: changed files refused; the last good ones stay in use", "error", err.Error())
		return
	}
	a.log.Info("TLS: changed files taken into use", "certificate_ends", a.certificates.Ends().UTC())
}
