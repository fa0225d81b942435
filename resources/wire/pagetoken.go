package wire

import "github.com/portcullis-authz/portcullis/resources"

// maxToken bounds a token in characters.
const maxToken = 4096

// PageTokens is the maker and opener of page tokens. A token is a cursor, encrypted and bound to one list.
type PageTokens struct{ sealer resources.Sealer }

// NewPageTokens takes keys of 32 bytes. Seal uses the first one, Open all of them.
func NewPageTokens(keys [][]byte) (PageTokens, error) {
	sealer, err := resources.NewSealer(keys)
	return PageTokens{sealer}, err
}

// Seal makes the token of a cursor for the list that binding names: its route,
// account, project and filters.
func (t PageTokens) Seal(cursor []byte, binding string) string { return t.sealer.Seal(cursor, binding) }

// Open returns the cursor of a token that Seal made for the same binding.
func (t PageTokens) Open(token, binding string) ([]byte, bool) {
	if len(token) > maxToken {
		return nil, false
	}
	return t.sealer.Open(token, binding)
}
