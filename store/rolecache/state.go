package rolecache

import "time"

// State is what an operator sees of a cache.
type State struct {
	// Epoch is how far the cache has come.
	Epoch int64
	// Age is how long ago the newest read of the store's epoch began; it is 0 before the first one, and
	// for a store in this process, which is asked each time.
	Age time.Duration
	// Valid says that a request is answered without another read.
	Valid bool
	// Subjects, Shared and Identities are how many facts of each kind are cached, Room how many of
	// each may be.
	Subjects, Shared, Identities, Room int
}

// State returns the cache's state. It looks at all entries.
func (c *Cache) State() State {
	s := State{
		Epoch: c.now().Epoch, Valid: c.local || c.withinLease(),
		Subjects: c.subjects.Len(), Shared: c.shared.Len(), Identities: c.homes.Len(), Room: c.subjects.Room(),
	}
	if read := c.read.Load(); read != 0 && c.lease > 0 {
		s.Age = max(0, c.clock()-time.Duration(read))
	}
	return s
}
