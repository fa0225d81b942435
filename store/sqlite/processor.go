package sqlite

import (
	"runtime"
	"sync"
)

// spare is a second processor, where Go has one, while somebody waits for the disk.
var spare struct {
	sync.Mutex
	users int
	lent  bool
}

// aside runs what waits for the disk. Go has whoever waits for the system keep the processor
// until its monitor takes it away, which looks every ten milliseconds where there is much to do:
// with a single one nobody else would go on meanwhile. So there is a second one for that long,
// and only for that long: two would take the same core from each other.
func aside(fn func() error) error {
	use(+1)
	defer use(-1)
	return fn()
}

func use(by int) {
	spare.Lock()
	defer spare.Unlock()
	spare.users += by
	switch {
	case spare.users == 1 && by > 0 && runtime.GOMAXPROCS(0) == 1:
		runtime.GOMAXPROCS(2)
		spare.lent = true
	case spare.users == 0 && spare.lent:
		runtime.GOMAXPROCS(1)
		spare.lent = false
	}
}
