package tracing

import (
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

// sampler returns the sampler that the standard variables name. Without trust a client's sampled flag has no part in it.
// The error names the variable that is wrong.
func sampler(lookup func(string) string, trust bool) (trace.Sampler, error) {
	name := strings.ToLower(strings.TrimSpace(lookup(envSampler)))
	if name == "" {
		name = "parentbased_always_on"
	}
	of, byParent := strings.CutPrefix(name, "parentbased_")
	var root trace.Sampler
	switch of {
	case "always_on":
		root = trace.AlwaysSample()
	case "always_off":
		root = trace.NeverSample()
	case "traceidratio":
		share := 1.0
		if text := strings.TrimSpace(lookup(envSamplerArg)); text != "" {
			var err error
			if share, err = strconv.ParseFloat(text, 64); err != nil || !(share >= 0 && share <= 1) { // which NaN is not
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

// untrusting samples requests as if no client had sent a traceparent: neither by its flag nor by its trace id, which a
// client can choose, too. The spans inside a request are sampled with it.
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
	binary.NativeEndian.PutUint64(p.TraceID[:8], rand.Uint64()) //nolint:gosec // who guesses it has a trace more
	binary.NativeEndian.PutUint64(p.TraceID[8:], rand.Uint64()) //nolint:gosec // as above
	p.ParentContext = api.ContextWithSpanContext(p.ParentContext, api.SpanContext{})
	result := s.Sampler.ShouldSample(p)
	result.Tracestate = parent.TraceState()
	return result
}
