package console

import (
	"net/http"

	"github.com/portcullis-authz/portcullis/resources"
)

// apiKey is a key in the API's form.
type apiKey struct {
	ID         string         `json:"id"`
	Name       string         `json:"key_name"`
	Masked     string         `json:"masked_key"`
	Scopes     []string       `json:"scopes"`
	Active     bool           `json:"is_active"`
	LastUsedAt resources.Time `json:"last_used_at"`
	CreatedAt  resources.Time `json:"created_at"`
	ExpiresAt  resources.Time `json:"expires_at"`
}

// keysView is the data of the page of a person's keys.
type keysView struct {
	Person member
	// Self is true if the keys are the reader's own. Users make keys for themselves only.
	Self bool
	Keys []apiKey
	// Once is the idempotency key of the form. The API makes one key even if the form is sent twice.
	Once string
	Form form
	May  map[string]bool
}

// keys shows the keys of a person and the form for a new one.
func (p *page) keys(status int, f form) error {
	id := p.r.PathValue("user")
	v := keysView{Self: id == p.session.UserID, Form: f, Once: p.c.cfg.IDs.ULID()}
	var err error
	if v.Person, err = p.member(id); err != nil {
		return err
	}
	if v.May, err = p.may("", "account:api_key:delete"); err != nil {
		return err
	}
	v.May["account:api_key:delete"] = v.May["account:api_key:delete"] || v.Self
	var answer struct {
		Data struct {
			Keys []apiKey `json:"keys"`
		} `json:"data"`
	}
	if status, err = v.Form.refused(p.api.get(p.r.Context(), p.account("users", id, "keys"), nil, &answer), status); err != nil {
		return err
	}
	v.Keys = answer.Data.Keys
	return p.show(status, "keys", "API keys", peopleHere, v)
}

// newKeyView is the data of the page that shows a new key with its secret.
type newKeyView struct {
	ID     string   `json:"id"`
	Name   string   `json:"key_name"`
	Raw    string   `json:"raw_key"`
	Scopes []string `json:"scopes"`
	// Back is the address of the list of keys.
	Back string `json:"-"`
}

// makeKey makes a key. Only this response contains the secret.
func makeKey(p *page) error {
	id, f := p.r.PathValue("user"), p.form()
	body := map[string]any{"key_name": p.field("key_name"), "scopes": append([]string{}, f.Values["scopes"]...)}
	if until := p.until("expires_at"); until != "" {
		body["expires_at"] = until
	}
	header := http.Header{}
	if once := p.field("once"); once != "" {
		header.Set("Idempotency-Key", once)
	}
	var answer struct {
		Data newKeyView `json:"data"`
	}
	err := p.api.call(p.r.Context(), http.MethodPost, p.account("users", id, "keys"), header, body, &answer)
	if f.Problem = refusalOf(err); f.Problem != nil {
		return p.keys(f.Problem.Status, f)
	}
	if err != nil {
		return err
	}
	answer.Data.Back = linkOf("people", id, "keys")
	return p.show(http.StatusOK, "newkey", "A new API key", peopleHere, answer.Data)
}

// revokeKey revokes a key.
func revokeKey(p *page) (*step, error) {
	id, key := p.r.PathValue("user"), p.r.PathValue("key")
	user, err := p.member(id)
	if err != nil {
		return nil, err
	}
	back := linkOf("people", id, "keys")
	return &step{
		Title: "Revoke a key", Question: []string{"Revoke the key", key, "of", user.Shown()}, Button: "Revoke", Danger: true,
		Note: "Every gateway refuses it from now on. A revoked key can't be restored.",
		Back: back, Here: peopleHere, then: back, done: "revoked",
		call: call{method: http.MethodDelete, path: p.account("users", id, "keys", key)},
	}, nil
}
