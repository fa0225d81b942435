package tracing

import (
	"fmt"
	"net/url"
	"strings"
)

// The standard variables of this package. OpenTelemetry's SDK reads the others.
const (
	envDisabled       = "OTEL_SDK_DISABLED"
	envExporter       = "OTEL_TRACES_EXPORTER"
	envEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	envTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	envProtocol       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	envTracesProtocol = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	envHeaders        = "OTEL_EXPORTER_OTLP_HEADERS"
	envTracesHeaders  = "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
)

const (
	protocolGRPC = "grpc"
	protocolHTTP = "http/protobuf"
)

// protocol returns the protocol of the export, "" if tracing is off. The error names the variable.
func protocol(lookup func(string) string) (string, error) {
	if strings.EqualFold(lookup(envDisabled), "true") || lookup(envExporter) == "none" {
		return "", nil
	}
	enabled, chosen := false, protocolHTTP
	for _, name := range []string{envExporter, envEndpoint, envTracesEndpoint, envProtocol, envTracesProtocol} {
		value := lookup(name)
		if value == "" {
			continue
		}
		enabled = true
		switch name {
		case envExporter:
			if value != "otlp" {
				return "", fmt.Errorf("%s: must be otlp or none, not %q", name, value)
			}
		case envProtocol, envTracesProtocol: // the variable for traces alone comes second, and wins
			if value != protocolGRPC && value != protocolHTTP {
				return "", fmt.Errorf("%s: must be %s or %s, not %q", name, protocolGRPC, protocolHTTP, value)
			}
			chosen = value
		}
	}
	if !enabled {
		return "", nil
	}
	return chosen, checkValues(lookup)
}

// checkValues rejects values that OpenTelemetry can't parse or use. OpenTelemetry would write them to standard error
// with their credentials, or fail at each export without the name of the variable.
func checkValues(lookup func(string) string) error {
	for _, name := range []string{envEndpoint, envTracesEndpoint} {
		value := lookup(name)
		endpoint, err := url.Parse(value)
		if err != nil || value != "" && endpoint.Host == "" && endpoint.Scheme != "unix" { // localhost:4318 has no host: its scheme is localhost
			return fmt.Errorf("%s: must be a URL such as http://127.0.0.1:4318", name)
		}
	}
	for _, name := range []string{envHeaders, envTracesHeaders} {
		value := lookup(name)
		for pair := range strings.SplitSeq(value, ",") {
			header, text, separated := strings.Cut(pair, "=")
			_, err := url.PathUnescape(text)
			if value != "" && (!separated || err != nil || !isToken(strings.TrimSpace(header))) {
				return fmt.Errorf("%s: must be name=value,name=value with the values percent-encoded, as in x-team=a%%20b", name)
			}
		}
	}
	return nil
}

// isToken reports whether the text can be the name of a header.
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) })
}
