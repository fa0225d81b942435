package authn

import "time"

// Age returns how long ago the keys in use were fetched, false before the first fetch.
func (s *URLSource) Age() (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return elapsed(s.fetched, s.options.Now()), !s.fetched.IsZero()
}

// Age returns how long ago the file of the keys in use was written.
func (s *FileSource) Age() (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.options.Now().Sub(s.written), true
}

// elapsed returns the time between two moments, by the clock that counts more of it: Go's monotonic clock stops while the
// machine is suspended, and the time of day can be set back.
func elapsed(start, end time.Time) time.Duration {
	return max(end.Sub(start), end.Round(0).Sub(start.Round(0)))
}
