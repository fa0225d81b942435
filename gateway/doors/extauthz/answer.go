package extauthz

import (
	"slices"
	"strconv"
	"strings"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	kind "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	status "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/portcullis-authz/portcullis/gateway/doors"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// gatewayHeaders returns the headers with the gateway's word to a service, and the credentials, for the gateway's eyes alone.
func gatewayHeaders() [8]string {
	return [...]string{
		"x-user-id", "x-account-id", "x-action", "x-principal-kind", "x-request-id", "x-portcullis-assertion", "authorization", "x-api-key",
	}
}

// allowed lets the call pass with what the service may rely on.
func allowed(a doors.Vouched, sent headers) *auth.CheckResponse {
	made := make([]struct {
		option core.HeaderValueOption
		value  core.HeaderValue
	}, len(a.Headers))
	names := gatewayHeaders()
	ok := &auth.OkHttpResponse{Headers: make([]*core.HeaderValueOption, 0, len(a.Headers)), HeadersToRemove: make([]string, 0, len(names))}
	for _, name := range names {
		if i := slices.IndexFunc(a.Headers, func(h doors.Header) bool { return strings.EqualFold(h.Name, name) }); i >= 0 && a.Headers[i].Value != "" {
			set(&made[i].option, &made[i].value, name, a.Headers[i].Value)
			ok.Headers = append(ok.Headers, &made[i].option)
		} else {
			ok.HeadersToRemove = append(ok.HeadersToRemove, name)
		}
		for i := range sent {
			if sent[i].is(name) && sent[i].odd() { // some servers read it as the other one
				ok.HeadersToRemove = append(ok.HeadersToRemove, sent[i].name)
			}
		}
	}
	return &auth.CheckResponse{
		Status:          &status.Status{Code: int32(codes.OK)},
		HttpResponse:    &auth.CheckResponse_OkResponse{OkResponse: ok},
		DynamicMetadata: metadataOf(a),
	}
}

// metadataOf returns the verdict for Envoy's log.
func metadataOf(a doors.Vouched) *structpb.Struct {
	fields := [...]struct{ name, text string }{
		{"decision_id", a.DecisionID}, {"reason", a.Reason}, {"policy_revision", a.PolicyRevision}, {"account_revision", strconv.FormatInt(a.AccountRevision, 10)},
	}
	made := make([]struct {
		value structpb.Value
		text  structpb.Value_StringValue
	}, len(fields))
	out := &structpb.Struct{Fields: make(map[string]*structpb.Value, len(fields))}
	for i := range fields {
		made[i].text.StringValue = valid(fields[i].text)
		made[i].value.Kind = &made[i].text
		out.Fields[fields[i].name] = &made[i].value
	}
	return out
}

// denied keeps the call out, with the status and the body that any door would give.
func denied(e *resources.Error, requestID string) *auth.CheckResponse {
	answer := &auth.DeniedHttpResponse{
		Status: &kind.HttpStatus{Code: kind.StatusCode(wire.Status(e.Kind))}, //nolint:gosec // of a table
		Body:   valid(string(wire.ErrorBody(resources.AreaAccess, e))),
		Headers: []*core.HeaderValueOption{
			option("content-type", "application/json"), option("cache-control", "no-store"), option("x-request-id", requestID),
		},
	}
	switch e.Kind {
	case resources.KindNoCredential, resources.KindBadCredential:
		answer.Headers = append(answer.Headers, option("www-authenticate", "Bearer"))
	case resources.KindUnavailable, resources.KindRateLimited:
		seconds := max(1, int64((e.RetryAfter+time.Second-1)/time.Second))
		answer.Headers = append(answer.Headers, option("retry-after", strconv.FormatInt(seconds, 10)))
	}
	return &auth.CheckResponse{
		Status:       &status.Status{Code: int32(code(e.Kind)), Message: valid(resources.MaskCredentials(e.Message))}, //nolint:gosec // of a table
		HttpResponse: &auth.CheckResponse_DeniedResponse{DeniedResponse: answer},
	}
}

// code returns the gRPC status code for a kind of error.
func code(k resources.Kind) codes.Code {
	switch k {
	case resources.KindNoCredential, resources.KindBadCredential:
		return codes.Unauthenticated
	case resources.KindRateLimited:
		return codes.ResourceExhausted
	case resources.KindUnavailable:
		return codes.Unavailable
	case resources.KindInternal:
		return codes.Internal
	default:
		return codes.PermissionDenied
	}
}

// valid makes any text fit for a message. Envoy takes an unsendable answer for an error, and may let the call pass
// then.
func valid(text string) string { return strings.ToValidUTF8(text, "\ufffd") }

// option sets a header, of a name in small letters, in place of any that was sent.
func option(name, value string) *core.HeaderValueOption {
	out := &core.HeaderValueOption{}
	set(out, &core.HeaderValue{}, name, value)
	return out
}

// set fills existing messages with a header of the answer.
func set(option *core.HeaderValueOption, header *core.HeaderValue, name, value string) {
	header.Key, header.Value = name, valid(value)
	option.Header, option.AppendAction = header, core.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD
}
