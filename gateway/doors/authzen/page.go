package authzen

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"strconv"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
)

// The bounds of page.limit.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// page is the page that a search asks for.
type page struct {
	Tuple
	// limit is 0 until it was read.
	limit int
	token string
}

// mark is what a token holds: where its page begins, and the limit of the first page.
type mark struct {
	Place
	Limit int `json:"l"`
}

// member reads the page, if the member is that.
func (p *page) member(r *reader, name string) bool {
	if name != "page" {
		return false
	}
	r.object("page", func(name string) bool {
		switch name {
		case "limit":
			p.readLimit(r)
		case "token":
			if r.Kind() == '"' {
				p.token = r.Text()
				return true
			}
			p.problem("page.token", "must be a string")
			return false
		default:
			return false
		}
		return true
	})
	return true
}

func (p *page) readLimit(r *reader) {
	raw := r.Raw(r.Skip)
	n, err := strconv.Atoi(string(bytes.TrimSpace(raw)))
	if err != nil || n < 1 || n > maxLimit {
		p.problem("page.limit", "must be an integer from 1 to "+strconv.Itoa(maxLimit))
		return
	}
	p.limit = n
}

// binding names what a token of the search is for: the same caller, and the same request without its page, its members
// in any order.
func (p *page) binding(route string, caller resources.Principal) (string, error) {
	entities := make([]any, 0, 4)
	for _, sent := range p.sent() {
		var v any
		if len(sent) > 0 {
			d := json.NewDecoder(bytes.NewReader(sent))
			d.UseNumber()
			if err := d.Decode(&v); err != nil {
				return "", err
			}
		}
		entities = append(entities, v)
	}
	raw, err := json.Marshal([]any{route, caller.Kind, caller.ID, entities})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return string(sum[:]), nil
}

// sent returns the entities as they were sent, nil for one that was not.
func (p *page) sent() [4][]byte {
	var out [4][]byte
	if p.Subject != nil {
		out[0] = p.Subject.Sent
	}
	if p.Action != nil {
		out[1] = p.Action.Sent
	}
	if p.Resource != nil {
		out[2] = p.Resource.Sent
	}
	if p.Context != nil {
		out[3] = p.Context.Sent
	}
	return out
}

// after opens the token and returns the place before the page, the zero value for the first page. All further pages
// have the limit of the first one.
func (p *page) after(tokens wire.PageTokens, binding string) Place {
	if p.token == "" {
		p.limit = cmp.Or(p.limit, defaultLimit)
		return Place{}
	}
	var m mark
	raw, ok := tokens.Open(p.token, binding)
	switch {
	case !ok || json.Unmarshal(raw, &m) != nil:
		p.problem("page.token", "is not a token of this caller and this request; begin again without it")
	case p.limit != 0 && p.limit != m.Limit:
		p.problem("page.limit", "must be that of the first page, or not be sent")
	}
	p.limit = m.Limit
	return m.Place
}

// seal returns the token of the page after that place.
func (p *page) seal(tokens wire.PageTokens, binding string, last Place) string {
	return tokens.Seal(marshal(mark{last, p.limit}), binding)
}

// marshal renders the result as an entity or an action of a question.
func (r result) marshal() []byte { return marshal(r) }

func marshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("authzen: strings must render: " + err.Error())
	}
	return raw
}

// result is what a search finds: a subject or a resource, or an action.
type result struct {
	Type       string       `json:"type,omitempty"`
	ID         string       `json:"id,omitempty"`
	Name       string       `json:"name,omitempty"`
	Properties *resultPlace `json:"properties,omitempty"`
}

// resultPlace gives the place of a native resource, to ask about it.
type resultPlace struct {
	Account string `json:"account_id"`
	Project string `json:"project_id,omitempty"`
}

// answer is the body of a search's answer.
type answer struct {
	Page    answerPage    `json:"page"`
	Results []result      `json:"results"`
	Context answerContext `json:"context"`
}

type answerPage struct {
	NextToken string `json:"next_token"`
}

type answerContext struct {
	// Complete says that a walk over all pages gives everything.
	Complete       bool   `json:"complete"`
	PolicyRevision string `json:"policy_revision"`
	// AccountRevision is nil if no account is in question.
	AccountRevision *int64 `json:"account_revision,omitempty"`
}
