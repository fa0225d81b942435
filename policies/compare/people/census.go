package people

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/portcullis-authz/portcullis/resources"
)

// Bounds of a census: of stands and of sets, and of their bytes.
const (
	maxSets  = 50_000
	maxBytes = 256 << 20
)

// census counts people by their distinct sets of facts.
type census struct {
	names *names
	now   resources.Time
	// named bounds the users that a set names.
	named    int
	bytes    int
	stands   []*stand
	numbers  map[[sha256.Size]byte]int // of stands, by their keys
	sets     []*factSet
	byStands map[string]*factSet
	accounts map[string]bool
	users    int
	omitted  int // users beyond a bound
}

// factSet are the users with equal stands.
type factSet struct {
	stands []int
	users  int
	named  []user
}

// user is one of them, with all places where they hold a role, and the number of the stand at each.
type user struct {
	Named
	stands []int
}

func newCensus(n *names, named int, now resources.Time) *census {
	return &census{
		names: n, now: now, named: named, numbers: map[[sha256.Size]byte]int{}, byStands: map[string]*factSet{}, accounts: map[string]bool{},
	}
}

// add counts a person. Those beyond a bound are counted as omitted.
func (c *census) add(p Person) error {
	c.users++
	one := user{Named: Named{User: p.Subject.UserID}}
	if p.Subject.Member {
		one.Account = p.Subject.AccountID
		c.accounts[one.Account] = true
	}
	size := len(one.User) + len(one.Account)
	var stands []int
	for _, spot := range p.places() {
		number, fits := c.number(c.names.stand(&p, spot, c.now))
		if !fits {
			c.omitted++
			return nil
		}
		stands = append(stands, number)
		if spot.id != "" {
			one.Places, one.stands, size = append(one.Places, spot.id), append(one.stands, number), size+len(spot.id)
		}
	}
	slices.Sort(stands)
	stands = slices.Compact(stands)
	key := fmt.Sprint(stands)
	set := c.byStands[key]
	if set == nil {
		if len(c.sets) == maxSets || !c.takes(len(key)) {
			c.omitted++
			return nil
		}
		set = &factSet{stands: stands}
		c.byStands[key], c.sets = set, append(c.sets, set)
	}
	set.users++
	if len(set.named) < c.named && c.takes(size) {
		set.named = append(set.named, one)
	}
	return nil
}

// number returns the number of a stand; false where it is new and beyond a bound.
func (c *census) number(s *stand) (number int, fits bool) {
	key := s.key(c.names.rows)
	number, seen := c.numbers[key]
	if !seen {
		size := 1 << 10
		for _, h := range s.base.Facts.Subject.Assignments {
			size += 256 + 32*len(h.Permissions)
		}
		if len(c.stands) == maxSets || !c.takes(size) {
			return 0, false
		}
		number = len(c.stands)
		c.numbers[key], c.stands = number, append(c.stands, s)
	}
	return number, true
}

// takes says whether there is room for so many bytes more, and takes it.
func (c *census) takes(bytes int) bool {
	if c.bytes+bytes > maxBytes {
		return false
	}
	c.bytes += bytes
	return true
}
