package decisionlog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	// maxLosers bounds the accounts whose losses are counted apart; those of all others are counted under "".
	maxLosers = 1000
	// statsOfAccounts is how many accounts Stats names, accountsInLog how many a line of the process's log does.
	statsOfAccounts = 10
	accountsInLog   = 3
)

// losses count verdicts that are missing in the log, by the caller's account; for a service it is the account in
// question.
type losses map[string]uint64

// add counts verdicts.
func (l *losses) add(account string, verdicts uint64) {
	if *l == nil {
		*l = losses{}
	}
	if _, counted := (*l)[account]; !counted && len(*l) >= maxLosers {
		account = ""
	}
	(*l)[account] += verdicts
}

// byCount returns the accounts, the one that has lost most first.
func (l losses) byCount() []string {
	return slices.SortedFunc(maps.Keys(l), func(a, b string) int {
		return cmp.Or(cmp.Compare(l[b], l[a]), cmp.Compare(a, b))
	})
}

// most returns so many of the accounts that have lost most.
func (l losses) most(n int) losses {
	if len(l) == 0 {
		return nil
	}
	out := losses{}
	for _, account := range l.byCount() {
		if len(out) == n {
			break
		}
		out[account] = l[account]
	}
	return out
}

// lossCount is how many verdicts are missing, in all and by account.
type lossCount struct {
	all      uint64
	accounts losses
}

// since returns the losses counted after former.
func (c lossCount) since(former lossCount) lossCount {
	return lossCount{c.all - former.all, c.accounts.since(former.accounts)}
}

// since returns the losses counted after former.
func (l losses) since(former losses) losses {
	out := losses{}
	for account, n := range l {
		if n > former[account] {
			out[account] = n - former[account]
		}
	}
	return out
}

// clean returns the losses without credentials in the accounts, which callers may have named.
func (l losses) clean() losses {
	out, c := losses{}, cleaner{}
	for account, n := range l {
		out[c.text(account)] += n
	}
	return out
}

// String names the accounts that have lost most.
func (l losses) String() string {
	all := l.byCount()
	var parts []string
	for _, account := range all[:min(len(all), accountsInLog)] {
		parts = append(parts, fmt.Sprintf("%s: %d", cmp.Or(account, "others"), l[account]))
	}
	if more := len(all) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, ", ")
}
