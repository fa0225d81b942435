package decisionlog

import "sync"

// Watch says whether the log got a record of an account.
type Watch struct {
	// Written is closed with the account's next record.
	Written <-chan struct{}
	// End is the place behind the records before.
	End Places
}

// Quiet says that no record of the account was written since.
func (w *Watch) Quiet() bool {
	select {
	case <-w.Written:
		return false
	default:
		return true
	}
}

// Watch begins to watch an account. All watchers of an account share one channel.
func (l *Log) Watch(account string) *Watch { return l.watches.watch(account) }

// watches are the watched accounts of a log.
type watches struct {
	mu       sync.Mutex
	end      Places
	accounts map[string]chan struct{}
}

func (w *watches) watch(account string) *Watch {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.accounts[account] == nil {
		if w.accounts == nil {
			w.accounts = map[string]chan struct{}{}
		}
		w.accounts[account] = make(chan struct{})
	}
	return &Watch{w.accounts[account], w.end}
}

// wrote wakes the watchers of the accounts of these records, now in the file up to end.
func (w *watches) wrote(log string, end position, all []*entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end = Places{log: end}
	for _, e := range all {
		if len(w.accounts) == 0 {
			return
		}
		for _, j := range e.judgements {
			if c := w.accounts[j.Question.AccountID]; c != nil {
				close(c)
				delete(w.accounts, j.Question.AccountID)
			}
		}
	}
}
