package records

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// ApprovalCall returns a hash of all that an approval is about. Two calls with one hash are the same call.
func ApprovalCall(a *resources.Approval) string {
	h := sha256.New()
	for _, part := range []string{
		a.AccountID, a.UserID, a.Client.Issuer, a.Client.ClientID, a.AgentID, a.Server, a.Place, a.Tool, a.Effect, a.ArgumentsHash, a.Definition,
	} {
		h.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// approvals returns the collection of approvals. A used one is not in ByCall: the same call needs another one.
func approvals() store.Collection[resources.Approval] {
	return store.NewCollection(store.Schema{
		Name:    "approvals",
		Columns: append(text("account", "user_id", "status", "call"), store.Column{Name: "expires", Kind: store.KindInt}),
		Indexes: []store.Index{
			{Name: ByCall, Columns: []string{"call"}, Unique: true},
			{Name: ByUser, Columns: []string{"account", "user_id", "expires"}},
			{Name: ByStatus, Columns: []string{"account", "user_id", "status", "expires"}},
			{Name: ByExpiry, Columns: []string{"expires"}},
		},
	}, func(a *resources.Approval) string { return a.ID }, func(a *resources.Approval) []store.Value {
		var call store.Value
		if a.Status != resources.ApprovalUsed {
			call = store.String(ApprovalCall(a))
		}
		return []store.Value{store.String(a.AccountID), store.String(a.UserID), store.String(a.Status), call, store.Int(int64(a.ExpiresAt))}
	})
}

// Unexpired continues a query at the approvals that have not expired. The next column of its index is the time of expiry.
func Unexpired(q store.Query, now resources.Time) store.Query {
	q.After = &store.Cursor{Values: []store.Value{store.Int(int64(now) + 1)}}
	return q
}
