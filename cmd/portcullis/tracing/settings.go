package tracing

import (
	"fmt"
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
	return chosen, nil
}
