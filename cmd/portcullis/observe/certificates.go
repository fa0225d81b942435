package observe

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// WatchCertificates shows when the certificate in use ends, as that function says, and counts changes of its files.
func (m *Metrics) WatchCertificates(ends func() time.Time) {
	m.certificates = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "portcullis_tls_reloads_total", Help: "Changed files of certificates, by whether they were taken into use or refused.",
	}, []string{"result"})
	m.registry.MustRegister(m.certificates, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "portcullis_tls_certificate_end_seconds", Help: "The end of the certificate in use, in Unix time.",
	}, func() float64 { return float64(ends().Unix()) }))
	m.certificates.WithLabelValues(reloadTaken)
	m.certificates.WithLabelValues(reloadRefused)
}

// CertificatesReloaded counts a change of the files.
func (m *Metrics) CertificatesReloaded(taken bool) {
	if taken {
		m.certificates.WithLabelValues(reloadTaken).Inc()
	} else {
		m.certificates.WithLabelValues(reloadRefused).Inc()
	}
}
