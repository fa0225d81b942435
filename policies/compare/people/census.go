package people

import (
	"crypto/sha256"
	"encoding/json"
)

// Bounds of what a census keeps. A set is a few hundred bytes, one with a hundred assignments some 20 KiB.
const (
	maxSets  = 50_000
	maxBytes = 256 << 20
)

// census counts people by their distinct sets of facts.
type census struct {
	forms    forms
	names    int // users that a set names
	bytes    int
	at       map[[sha256.Size]byte]*factSet
	sets     []*factSet
	accounts map[string]bool
	users    int
	left     int // users of sets that a bound has left out
}

// factSet is one distinct set of facts with its users.
type factSet struct {
	formed
	users int
	named []namedUser
}

// namedUser is a user of a set, with the places that stand for those of the form, in its order.
type namedUser struct {
	user, account string
	places        []string
}

func newCensus(f forms, names int) *census {
	return &census{forms: f, names: names, at: map[[sha256.Size]byte]*factSet{}, accounts: map[string]bool{}}
}

// add counts a person.
func (c *census) add(p Person) error {
	c.users++
	if p.Account != "" {
		c.accounts[p.Account] = true
	}
	of := c.forms.of(p)
	text, err := json.Marshal(of.Person)
	if err != nil {
		return err
	}
	key := sha256.Sum256(text)
	set := c.at[key]
	if set == nil {
		if len(c.sets) == maxSets || c.bytes+len(text) > maxBytes {
			c.left++
			return nil
		}
		c.bytes += len(text)
		set = &factSet{formed: of}
		c.at[key], c.sets = set, append(c.sets, set)
	}
	set.users++
	if len(set.named) < c.names && c.bytes+len(text) <= maxBytes {
		c.bytes += len(text)
		set.named = append(set.named, namedUser{p.User, p.Account, of.real})
	}
	return nil
}
