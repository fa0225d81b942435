package tracing

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"
)

// The standard variables of sampling.
const (
	envSampler    = "OTEL_TRACES_SAMPLER"
	envSamplerArg = "OTEL_TRACES_SAMPLER_ARG"
)

// sampler returns the sampler of the standard variables. Without trust it ignores the sampled flag of clients. The
// error names the variable.
func sampler(lookup func(string) string, trust bool) (trace.Sampler, error) {
	name := cmp.Or(strings.ToLower(strings.TrimSpace(lookup(envSampler))), "parentbased_always_on")
	rule, byParent := strings.CutPrefix(name, "parentbased_")
	var root trace.Sampler
	switch rule {
	case "always_on":
		root = trace.AlwaysSample()
	case "always_off":
		root = trace.NeverSample()
	case "traceidratio":
		share := 1.0
		if text := strings.TrimSpace(lookup(envSamplerArg)); text != "" {
			var err error
			if share, err = strconv.ParseFloat(text, 64); err != nil || !(share >= 0 && share <= 1) { // false for NaN
				return nil, fmt.Errorf("%s: must be a share from 0 to 1, not %q", envSamplerArg, text)
			}
		}
		root = trace.TraceIDRatioBased(share)
	default:
		return nil, fmt.Errorf("%s: must be always_on, always_off, traceidratio, or one of these after parentbased_, not %q", envSampler, name)
	}
	switch {
	case !trust:
		return untrusting{root}, nil
	case byParent:
		return trace.ParentBased(root), nil
	}
	return root, nil
}

// untrusting samples a request by a random id, not by its traceparent: a client can choose both the flag and the trace
// id there. It samples the spans inside a request with the request.
type untrusting struct{ trace.Sampler }

// ShouldSample implements trace.Sampler.
func (s untrusting) ShouldSample(p trace.SamplingParameters) trace.SamplingResult {
	parent := api.SpanContextFromContext(p.ParentContext)
	switch {
	case !parent.IsValid():
		return s.Sampler.ShouldSample(p)
	case !parent.IsRemote() && parent.IsSampled():
		return trace.SamplingResult{Decision: trace.RecordAndSample, Tracestate: parent.TraceState()}
	case !parent.IsRemote():
		return trace.SamplingResult{Decision: trace.Drop, Tracestate: parent.TraceState()}
	}
	binary.NativeEndian.PutUint64(p.TraceID[:8], rand.Uint64()) //nolint:gosec // a client who guesses it gets one more trace
	binary.NativeEndian.PutUint64(p.TraceID[8:], rand.Uint64()) //nolint:gosec // as above
	p.ParentContext = api.ContextWithSpanContext(p.ParentContext, api.SpanContext{})
	result := s.Sampler.ShouldSample(p)
	result.Tracestate = parent.TraceState()
	return result
}
