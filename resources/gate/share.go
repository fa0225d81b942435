package gate

// Share counts a caller inside as one of the account's. The last eighth of the places is refused to an account with
// half of all: one account does not keep all others out. A full gate is the same error as Enter's; the caller is not
// counted then. Each Share without an error needs one Unshare; the place is left by Leave in any case.
func (g *Gate) Share(account string) error {
	if g == nil || account == "" {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shares[account] >= g.room/2 && g.running > g.room-g.room/8 {
		g.refused.Add(1)
		return refusal(ErrFull)
	}
	if g.shares == nil {
		g.shares = map[string]int{}
	}
	g.shares[account]++
	return nil
}

// Unshare undoes Share.
func (g *Gate) Unshare(account string) {
	if g == nil || account == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shares[account]--; g.shares[account] == 0 {
		delete(g.shares, account)
	}
}
