package tracing

import (
	"fmt"
	"net/url"
	"strings"
)

// The standard variables that are read here; OpenTelemetry's SDK reads the others.
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

// protocol returns how spans are exported, "" where tracing is off. The error names the variable that is wrong.
func protocol(lookup func(string) string) (string, error) {
	if strings.EqualFold(lookup(envDisabled), "true") || lookup(envExporter) == "none" {
		return "", nil
	}
	on, chosen := false, protocolHTTP
	for _, name := range []string{envExporter, envEndpoint, envTracesEndpoint, envProtocol, envTracesProtocol} {
		value := lookup(name)
		if value == "" {
			continue
		}
		on = true
		switch name {
		case envExporter:
			if value != "otlp" {
				return "", fmt.Errorf("%s: must be otlp or none, not %q", name, value)
			}
		case envProtocol, envTracesProtocol: // the second, which is for traces alone, wins
			if value != protocolGRPC && value != protocolHTTP {
				return "", fmt.Errorf("%s: must be %s or %s, not %q", name, protocolGRPC, protocolHTTP, value)
			}
			chosen = value
		}
	}
	if !on {
		return "", nil
	}
	return chosen, checkValues(lookup)
}

// checkValues refuses values that OpenTelemetry can't read or use: it would quote them on standard error, with the
// credentials that are in them, or fail at each export without the name of the variable.
func checkValues(lookup func(string) string) error {
	for _, name := range []string{envEndpoint, envTracesEndpoint} {
		value := lookup(name)
		at, err := url.Parse(value)
		if err != nil || value != "" && at.Host == "" && at.Scheme != "unix" { // as in localhost:4318
			return fmt.Errorf("%s: must be a URL such as http://127.0.0.1:4318", name)
		}
	}
	for _, name := range []string{envHeaders, envTracesHeaders} {
		value := lookup(name)
		for pair := range strings.SplitSeq(value, ",") {
			header, text, found := strings.Cut(pair, "=")
			_, err := url.PathUnescape(text)
			if value != "" && (!found || err != nil || !isToken(strings.TrimSpace(header))) {
				return fmt.Errorf("%s: must be name=value,name=value with the values percent-encoded, as in x-team=a%%20b", name)
			}
		}
	}
	return nil
}

// isToken says whether a text is the name of a header.
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) })
}
