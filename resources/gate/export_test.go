package gate

import "time"

// NextCollection is when the pause after a collection is over.
func NextCollection() time.Time {
	collecting.Lock()
	defer collecting.Unlock()
	return next
}

// CollectFrom ends the pause at another time.
func CollectFrom(at time.Time) {
	collecting.Lock()
	defer collecting.Unlock()
	next = at
}
