package consistency_test

import "testing"

// mutant is the program without one condition of the protocol.
type mutant struct {
	name     string
	edits    []edit
	scenario scenario
}

const (
	cacheFile    = "store/rolecache/cache.go"
	barrierFile  = "store/rolecache/barrier.go"
	roundsFile   = "store/rolecache/rounds.go"
	remoteFile   = "store/rolecache/remote.go"
	identityFile = "store/rolecache/identity.go"
	commitFile   = "store/mongodb/commit.go"
	storeFile    = "store/mongodb/store.go"
	revisionFile = "store/mongodb/revision.go"
	openFile     = "store/mongodb/open.go"
	recordFile   = "gateway/record.go"
	revokeFile   = "resources/access/assignment_revoke.go"
	memberFile   = "resources/access/member.go"
	recorderFile = "resources/changes/recorder.go"
)

// withoutRevision caches values under keys without a revision. It also removes the revision from answers, since
// equalAnswers would catch it by that.
var withoutRevision = []edit{
	{recordFile, "strconv.AppendInt(room[:0], o.AccountRevision, 10)", "strconv.AppendInt(room[:0], o.AccountRevision, 10)[:0]"},
	{cacheFile, "k := key{generation: generation, account: account, revision: revision, id: user}", "k := key{generation: generation, account: account, revision: 0 * revision, id: user}"},
	{cacheFile, "if k.revision = facts[0].Revision; k.revision == 0 {", "if facts[0].Revision == 0 {"},
}

var mutants = []mutant{
	{"fill from a read that no majority has", []edit{
		{commitFile, "return translate(t.ctx, ses.StartTransaction(options.Transaction().SetReadConcern(readconcern.Snapshot()).\n\t\tSetWriteConcern(durable())", `level, concern := readconcern.Snapshot(), durable()
	if !t.writable {
		level, concern = readconcern.Local(), &writeconcern.WriteConcern{W: 1}
	}
	return translate(t.ctx, ses.StartTransaction(options.Transaction().SetReadConcern(level).
		SetWriteConcern(concern)`},
		{commitFile, "\"go.mongodb.org/mongo-driver/v2/mongo/readpref\"\n", "\"go.mongodb.org/mongo-driver/v2/mongo/readpref\"\n\t\"go.mongodb.org/mongo-driver/v2/mongo/writeconcern\"\n"},
	}, splitPrimary},
	{"values kept before the read has committed", []edit{
		{cacheFile, "v any) { values[k.shared(kind, id)] = v })", "v any) {\n\t\tvalues[k.shared(kind, id)] = v\n\t\tc.shared.Put(k.shared(kind, id), v)\n\t})"},
	}, splitPrimary},
	{"write that no majority has", []edit{{openFile, `W: "majority"`, "W: 1"}}, splitPrimary},
	{"unknown outcome taken for success", []edit{{commitFile, "return false, store.ErrOutcomeUnknown", "_ = store.ErrOutcomeUnknown\n\t\t\treturn false, nil"}}, splitPrimary},
	{"join the barrier in flight", []edit{{roundsFile, `	if !r.busy {
		r.busy = true
		r.mu.Unlock()
		defer r.finish(ctx, do)
		return do(ctx)
	}
	if r.next == nil {
		r.next = &round{done: make(chan struct{})}
	}
`, `	if r.next == nil {
		only := &round{done: make(chan struct{})}
		r.next = only
		r.mu.Unlock()
		only.err = do(ctx)
		r.mu.Lock()
		r.next = nil
		r.mu.Unlock()
		close(only.done)
		return only.err
	}
`}}, strictReplicas},
	{"lease counted from the reply", []edit{{barrierFile, "		c.read.Store(int64(began))", "		if c.lease > 0 {\n\t\t\tbegan = c.clock()\n\t\t}\n\t\tc.read.Store(int64(began))"}}, slowNetwork},
	{"writer does not wait", []edit{{commitFile, "	if lease > 0 {", "	if lease < 0 {"}}, leasedReplicas},
	{"writer waits its own lease only", []edit{
		{storeFile, "	slot      slot\n", "	slot      slot\n\town time.Duration\n"},
		{storeFile, "	_, err = s.meta().UpdateOne(ctx, byID(epochID), bson.D{{Key: \"$max\"", "	s.own = d\n\t_, err = s.meta().UpdateOne(ctx, byID(epochID), bson.D{{Key: \"$max\""},
		{revisionFile, "time.Duration(doc.Lease)*time.Millisecond", "min(time.Duration(doc.Lease)*time.Millisecond, t.s.own)"},
	}, leasedReplicas},
	{"key without revision", withoutRevision, leasedReplicas},
	{"keys deleted after the commit", append([]edit{
		{cacheFile, "	if o.Remote != nil {", "	if false {"},
		{barrierFile, "		c.learn(ch.AccountID, ch.Revision)\n\t}\n", "		c.learn(ch.AccountID, ch.Revision)\n\t}\n\tc.subjects.Clear()\n\tc.shared.Clear()\n"},
	}, withoutRevision...), strictReplicas},
	{"last admin looked for outside the transaction", []edit{
		{revokeFile, "	err = s.changeRoles(", "	if err := s.adminLeft(ctx, revoked); err != nil {\n\t\treturn wire.Response{}, err\n\t}\n\terr = s.changeRoles("},
		{revokeFile, `		change := records.RoleChange{AccountID: revoked.AccountID, Caller: r.Principal, Now: s.now(), RoleIDs: []string{revoked.RoleID}}
		return s.c.KeepAdmins(ctx, tx, change, func() error {
			return s.c.Assignments.Delete(ctx, tx, *rec)
		})
`, "		return s.c.Assignments.Delete(ctx, tx, *rec)\n"},
		{revokeFile, "// readRevocation reads", `func (s *Service) adminLeft(ctx context.Context, revoked resources.Assignment) error {
	return s.Store.View(ctx, func(tx store.Tx) error {
		n, err := s.c.Assignments.Count(ctx, tx, store.Query{Index: "by_role", Equal: []store.Value{store.String(revoked.AccountID), store.String(resources.RoleAccountAdmin)}})
		if err == nil && n < 2 && revoked.RoleID == resources.RoleAccountAdmin {
			err = resources.Forbidden("the last one")
		}
		return err
	})
}

// readRevocation reads`},
	}, leasedReplicas},
	{"remembered subject trusted", []edit{{identityFile, "named := look.byExternal", "named := true || look.byExternal"}}, leasedReplicas},
	{"late look-up kept", []edit{
		{barrierFile, "		if revision > 0 && c.generation == generation && c.epoch == epoch {\n\t\t\tc.learn", "		if revision > 0 {\n\t\t\tc.learn"},
		{cacheFile, "maxChanges = 10_000", "maxChanges = 0"},
	}, manyChanges},
	{"values of Redis taken as they are", []edit{{remoteFile, "if hmac.Equal(mac(secret, name, sealed[sha256.Size:]), sealed[:sha256.Size]) {", "if hmac.Equal(nil, nil) && len(secret) > 0 {"}}, forgedValues},
	{"generation kept by a restore", []edit{{storeFile, "{Key: \"gen\", Value: generation}, {Key: \"lease_max\"", "{Key: \"lease_max\""}}, restoredBackup},
	{"change that moves no revision", []edit{
		{memberFile, `func (s *Service) removeMember(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	err := store.CommitNotFound(ctx, s.Store, func(tx store.Tx) error {
		if _, err := s.beginChange(ctx, tx, r, actionGroupUpdate); err != nil {
			return err
		}
		group,`, `func (s *Service) removeMember(ctx context.Context, r *wire.Request) (wire.Response, error) {
	if err := r.Bare(); err != nil {
		return wire.Response{}, err
	}
	err := store.CommitNotFound(ctx, s.Store, func(tx store.Tx) error {
		group,`},
		// The recorder moves the revision, too, so it must not.
		{recorderFile, "err = tx.Bump(ctx, account); err != nil { // which an area has done already", "err = tx.Revision(ctx, account); err != nil {"},
	}, leasedReplicas},
}

// TestMutantsFitTheProgram guarantees that the program has each line of a mutant once. Change the mutant with these
// lines.
func TestMutantsFitTheProgram(t *testing.T) {
	for _, m := range mutants {
		builder.Fits(t, m.name, edits(m.edits)...)
	}
}
