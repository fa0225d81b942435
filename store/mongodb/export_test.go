package mongodb

// LimitGroups sets how many changes share a transaction at most.
func (s *Store) LimitGroups(n int) { s.slot.size = n }

// Waiting is how many changes are in line.
func (s *Store) Waiting() int {
	s.slot.mu.Lock()
	defer s.slot.mu.Unlock()
	return len(s.slot.line)
}
