package observe

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// WatchCertificates shows when the certificate in use ends, as that function says, and counts changes of its files.
func (m *Metrics) WatchCertificates(ends func() time.Time) {
	m.certificates = m.preset("portcullis_tls_reloads_total", "Changed files of certificates, by whether they were taken into use or refused.",
		"result", reloadTaken, reloadRefused)
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "portcullis_tls_certificate_end_seconds", Help: "The end of the certificate in use, in Unix time.",
	}, func() float64 { return float64(ends().Unix()) }))
}

// CertificatesReloaded counts a change of the files.
func (m *Metrics) CertificatesReloaded(taken bool) {
	m.certificates.WithLabelValues(reloadResult(taken)).Inc()
}
