package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// answer is how one kind of error is answered: its HTTP status, its code in the bodies of
// firewall and access, and its code and type in that of users.
type answer struct {
	status             int
	code               string
	userCode, userType string
}

// answerOf returns the answer to a kind of error, from the one table of them. An unknown kind is
// answered as an internal error: the status 0 of an empty row would be sent as 200.
func answerOf(kind resources.Kind) answer {
	switch kind {
	case resources.KindBadRequest:
		return answer{400, "BAD_REQUEST", "REQ_001", "bad_request"}
	case resources.KindNoCredential:
		return answer{401, "UNAUTHORIZED", "AUTH_001", "unauthorized"}
	case resources.KindBadCredential:
		return answer{401, "UNAUTHORIZED", "AUTH_002", "unauthorized"}
	case resources.KindForbidden:
		return answer{403, "FORBIDDEN", "AUTH_003", "forbidden"}
	case resources.KindNotFound:
		return answer{404, "NOT_FOUND", "USER_001", "not_found"}
	case resources.KindMethodNotAllowed:
		return answer{405, "METHOD_NOT_ALLOWED", "REQ_001", "bad_request"}
	case resources.KindTooSlow:
		return answer{408, "BAD_REQUEST", "REQ_001", "bad_request"}
	case resources.KindConflict:
		return answer{409, "CONFLICT", "USER_002", "conflict"}
	case resources.KindGone:
		return answer{410, "GONE", "REQ_001", "bad_request"}
	case resources.KindTooLarge:
		return answer{413, "PAYLOAD_TOO_LARGE", "REQ_001", "bad_request"}
	case resources.KindUnsupportedMedia:
		return answer{415, "UNSUPPORTED_MEDIA_TYPE", "REQ_001", "bad_request"}
	case resources.KindRateLimited:
		return answer{429, "RATE_LIMITED", "RATE_001", "rate_limited"}
	case resources.KindUnavailable:
		return answer{503, "UNAVAILABLE", "SYS_002", "unavailable"}
	case resources.KindInternal:
	}
	return answer{500, "INTERNAL_ERROR", "SYS_001", "internal_error"}
}

// NounAPIKey is the noun whose absence has a code of its own in the body of users.
const NounAPIKey = "api_key"

// Status returns the HTTP status of a kind of error.
func Status(kind resources.Kind) int { return answerOf(kind).status }

// ErrorBody renders the error in the area's shape (specification, "Errors"). The body does
// not show the error's cause, and shows credentials masked.
func ErrorBody(area string, e *resources.Error) []byte {
	codes := answerOf(e.Kind)
	var body any
	switch area {
	case resources.AreaFirewall:
		body = struct {
			Error   string            `json:"error"`
			Code    string            `json:"code"`
			Details map[string]string `json:"details,omitempty"`
		}{e.Message, codes.code, byField(e.Problems)}
	case resources.AreaUsers:
		code := codes.userCode
		if e.Kind == resources.KindNotFound && e.Noun == NounAPIKey {
			code = "KEY_001"
		}
		body = struct {
			Success bool      `json:"success"`
			Error   userError `json:"error"`
		}{Error: userError{code, codes.userType, e.Message, strings.Join(lines(e.Problems), "; ")}}
	default:
		body = struct {
			Error accessError `json:"error"`
		}{accessError{codes.code, e.Message, lines(e.Problems)}}
	}
	out, err := Render(body)
	if err != nil {
		panic("wire: an error body of strings can't fail to render: " + err.Error())
	}
	return []byte(resources.MaskCredentials(string(out)))
}

// Render returns a body as JSON. Angle brackets stay unescaped: no browser shows a body as a
// page.
func Render(body any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// userError is the error in a body of users.
type userError struct {
	Code    string `json:"code"`
	Type    string `json:"type"`
	Message string `json:"message"`
	Details string `json:"details"`
}

// accessError is the error in a body of access.
type accessError struct {
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Details []string `json:"details,omitempty"`
}

// lines returns each problem as one line.
func lines(problems []resources.Problem) []string {
	out := make([]string, len(problems))
	for i, p := range problems {
		out[i] = p.String()
	}
	return out
}

// byField returns the text of each field's problems, joined by "; ". A problem without a
// field stands under "request".
func byField(problems []resources.Problem) map[string]string {
	texts := map[string][]string{}
	for _, p := range problems {
		field := cmp.Or(p.Field, "request")
		texts[field] = append(texts[field], p.Text)
	}
	out := make(map[string]string, len(texts))
	for field, names := range texts {
		out[field] = strings.Join(names, "; ")
	}
	return out
}
