package gate

import "time"

// NextCollection is when the pause after a collection is over.
func NextCollection() time.Time {
	collection.Lock()
	defer collection.Unlock()
	return collection.next
}

// CollectFrom ends the pause at another time.
func CollectFrom(at time.Time) {
	collection.Lock()
	defer collection.Unlock()
	collection.next = at
}

// CollectTime bounds the wait for a collection.
const CollectTime = collectTime

// Collecting has a collection be under way until end.
func Collecting() (end func()) {
	done := make(chan struct{})
	set := func(to chan struct{}) {
		collection.Lock()
		defer collection.Unlock()
		collection.done = to
	}
	set(done)
	return func() { set(nil); close(done) }
}
