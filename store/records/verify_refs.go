package records

import (
	"context"
	"errors"
	"fmt"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// refs looks up what the records of one page name.
type refs struct {
	ctx   context.Context //nolint:containedctx // lives for one snapshot
	tx    store.Tx
	c     Collections
	seen  map[string]bool
	names []string
	err   error
}

func (r *refs) fault(format string, args ...any) {
	r.names = append(r.names, fmt.Sprintf(format, args...))
}

// failed notes an error of the store; it ends the check.
func (r *refs) failed(err error) bool {
	r.err = errors.Join(r.err, err)
	return err != nil
}

// exists reports whether a record is there. It asks the store once for each name, and says yes after an error, since an
// error is not damage.
func (r *refs) exists(name string, schema *store.Schema, key string) bool {
	ok, asked := r.seen[name]
	if asked {
		return ok
	}
	_, err := r.tx.Get(r.ctx, schema, key)
	ok = !errors.Is(err, store.ErrNotFound)
	if ok {
		r.failed(err)
	}
	r.seen[name] = ok
	return ok
}

// wants notes a fault unless the record is there.
func (r *refs) wants(noun string, schema *store.Schema, id string) {
	if !r.exists(noun+" "+id, schema, id) {
		r.fault("the %s %s is missing", noun, id)
	}
}

func (r *refs) account(id string) { r.wants("account", r.c.Accounts.Schema(), id) }

func (r *refs) user(id string) { r.wants("user", r.c.Users.Schema(), id) }

func (r *refs) group(account, id string) {
	r.account(account)
	r.wants("group", r.c.Groups.Schema(), id)
}

func (r *refs) agent(account, id string) {
	r.account(account)
	r.wants("agent", r.c.Agents.Schema(), id)
}

func (r *refs) agentClient(a resources.Agent, client resources.AgentClient) {
	key := AgentClientID(a.AccountID, client)
	if !r.exists("agent client "+key, r.c.AgentClients.Schema(), key) {
		r.fault("its client %q of the issuer %q is missing", client.ClientID, client.Issuer)
	}
}

func (r *refs) project(account, id string) {
	r.account(account)
	r.wants("project", r.c.Projects.Schema(), id)
}

func (r *refs) changePart(id string, number int64) {
	key := r.c.ChangeParts.Key(ChangePart{ChangeID: id, Number: number})
	if !r.exists("change part "+key, r.c.ChangeParts.Schema(), key) {
		r.fault("part %d is missing", number)
	}
}
