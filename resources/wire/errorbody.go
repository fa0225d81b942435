package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// answered is how one kind of error is answered.
type answered struct {
	status         int
	code           string
	user, userType string
}

// codes is the one table from the kind of an error to what is answered.
var codes = map[resources.Kind]answered{
	resources.KindInternal:         {500, "INTERNAL_ERROR", "SYS_001", "internal_error"},
	resources.KindBadRequest:       {400, "BAD_REQUEST", "REQ_001", "bad_request"},
	resources.KindNoCredential:     {401, "UNAUTHORIZED", "AUTH_001", "unauthorized"},
	resources.KindBadCredential:    {401, "UNAUTHORIZED", "AUTH_002", "unauthorized"},
	resources.KindForbidden:        {403, "FORBIDDEN", "AUTH_003", "forbidden"},
	resources.KindNotFound:         {404, "NOT_FOUND", "USER_001", "not_found"},
	resources.KindMethodNotAllowed: {405, "METHOD_NOT_ALLOWED", "REQ_001", "bad_request"},
	resources.KindConflict:         {409, "CONFLICT", "USER_002", "conflict"},
	resources.KindTooLarge:         {413, "PAYLOAD_TOO_LARGE", "REQ_001", "bad_request"},
	resources.KindTooSlow:          {408, "BAD_REQUEST", "REQ_001", "bad_request"},
	resources.KindUnsupportedMedia: {415, "UNSUPPORTED_MEDIA_TYPE", "REQ_001", "bad_request"},
	resources.KindRateLimited:      {429, "RATE_LIMITED", "RATE_001", "rate_limited"},
	resources.KindUnavailable:      {503, "UNAVAILABLE", "SYS_002", "unavailable"},
}

// nounAPIKey is the noun whose absence has a code of its own in the user service.
const nounAPIKey = "api_key"

// Status is the HTTP status of a kind of error.
func Status(kind resources.Kind) int { return row(kind).status }

// row is never empty: status 0 would be sent as 200.
func row(kind resources.Kind) answered {
	if r, ok := codes[kind]; ok {
		return r
	}
	return codes[resources.KindInternal]
}

// ErrorBody renders the error in the area's shape (specification, "Errors"). The
// cause is never in it, and a credential that stands in what it quotes is masked.
func ErrorBody(area string, e *resources.Error) []byte {
	row := row(e.Kind)
	var body any
	switch area {
	case resources.AreaFirewall:
		body = struct {
			Error   string            `json:"error"`
			Code    string            `json:"code"`
			Details map[string]string `json:"details,omitempty"`
		}{e.Message, row.code, byField(e.Problems)}
	case resources.AreaUsers:
		code := row.user
		if e.Kind == resources.KindNotFound && e.Noun == nounAPIKey {
			code = "KEY_001"
		}
		body = struct {
			Success bool      `json:"success"`
			Error   userError `json:"error"`
		}{Error: userError{code, row.userType, e.Message, strings.Join(lines(e.Problems), "; ")}}
	default:
		body = struct {
			Error accessError `json:"error"`
		}{accessError{row.code, e.Message, lines(e.Problems)}}
	}
	out, err := Render(body)
	if err != nil {
		panic("wire: an error body of strings can't fail to render: " + err.Error())
	}
	return []byte(resources.MaskCredentials(string(out)))
}

// Render is a body as JSON. Angle brackets stay as they are: no browser shows this
// as a page.
func Render(body any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

type userError struct {
	Code    string `json:"code"`
	Type    string `json:"type"`
	Message string `json:"message"`
	Details string `json:"details"`
}

type accessError struct {
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Details []string `json:"details,omitempty"`
}

func lines(problems []resources.Problem) []string {
	out := make([]string, len(problems))
	for i, p := range problems {
		out[i] = p.String()
	}
	return out
}

// byField keys problems by field; several of one field stand in one text. They are joined
// at the end: all thousand problems may be of one field, and a text that grows by one at a
// time would be copied as often.
func byField(problems []resources.Problem) map[string]string {
	texts := map[string][]string{}
	for _, p := range problems {
		field := p.Field
		if field == "" {
			field = "request"
		}
		texts[field] = append(texts[field], p.Text)
	}
	out := make(map[string]string, len(texts))
	for field, of := range texts {
		out[field] = strings.Join(of, "; ")
	}
	return out
}
