package gate

import "slices"

// turns are the waiting callers in the queues of their accounts. Every other turn goes to callers of unknown account,
// if some wait: signed-in users do not keep others from signing in, nor the reverse.
type turns struct {
	count  int
	queues map[string]*queue
	// accounts has each account with callers once, the next one first, without "".
	accounts []*queue
	// named says the last turn was an account's
	named bool
}

// queue holds the callers of an account in the order of their arrival.
type queue struct {
	account string
	waiting []*waiter
}

type waiter struct {
	queue *queue
	// called gets one value, whether the caller entered, unless remove took the caller out of the queue.
	called chan bool
}

func newTurns() turns { return turns{queues: map[string]*queue{}} }

// add puts a caller at the end of their account's queue.
func (t *turns) add(account string) *waiter {
	q := t.queues[account]
	if q == nil {
		q = &queue{account: account}
		t.queues[account] = q
		if account != "" {
			t.accounts = append(t.accounts, q)
		}
	}
	w := &waiter{queue: q, called: make(chan bool, 1)}
	q.waiting = append(q.waiting, w)
	t.count++
	return w
}

// next takes the caller of this turn out of its queue, nil if nobody waits.
func (t *turns) next() *waiter {
	q := t.queues[""]
	if q == nil || !t.named && len(t.accounts) > 0 {
		if len(t.accounts) == 0 {
			return nil
		}
		q = t.accounts[0]
		t.accounts = append(t.accounts[1:], q)
	}
	t.named = q.account != ""
	w := q.waiting[0]
	t.remove(w)
	return w
}

// giveUp refuses the last caller of the account with the most waiters, if it has more than the given account will have
// with one more.
func (t *turns) giveUp(account string) bool {
	self, longest := 1, (*queue)(nil)
	for _, q := range t.queues {
		if q.account == account {
			self += len(q.waiting)
		}
		if longest == nil || len(q.waiting) > len(longest.waiting) {
			longest = q
		}
	}
	if longest == nil || len(longest.waiting) <= self {
		return false
	}
	last := longest.waiting[len(longest.waiting)-1]
	t.remove(last)
	last.called <- false
	return true
}

// remove takes a caller out of their queue; false if they have left it already.
func (t *turns) remove(w *waiter) bool {
	i := slices.Index(w.queue.waiting, w)
	if i < 0 {
		return false
	}
	w.queue.waiting = slices.Delete(w.queue.waiting, i, i+1)
	t.count--
	if len(w.queue.waiting) == 0 {
		delete(t.queues, w.queue.account)
		if index := slices.Index(t.accounts, w.queue); index >= 0 {
			t.accounts = slices.Delete(t.accounts, index, index+1)
		}
	}
	return true
}
