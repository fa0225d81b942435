package authn

import "time"

// Age returns how long ago the keys in use were fetched, false before the first fetch.
func (s *URLSource) Age() (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.options.Now().Sub(s.fetched), !s.fetched.IsZero()
}

// Age returns how long ago the file of the keys in use was written.
func (s *FileSource) Age() (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.options.Now().Sub(s.written), true
}
