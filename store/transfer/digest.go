package transfer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
)

// page is how many records are read on one snapshot, and written in one transaction.
const page = 500

// revisions is the name of the accounts' revisions in a Digest. No collection has it.
const revisions = "account revisions"

// Digest is the contents of a store, by collection: how many records, and a hash over the key, revision and body of
// each. Two stores of any engine with the same contents are equal.
type Digest map[string]Sum

// Sum is what a Digest holds of one collection.
type Sum struct {
	Count  int
	SHA256 string
}

// Total returns the number of records.
func (d Digest) Total() int {
	n := 0
	for name, sum := range d {
		if name != revisions {
			n += sum.Count
		}
	}
	return n
}

// Differences names the differing collections of two stores, and how they differ.
func (d Digest) Differences(other Digest) []string {
	var out []string
	for name, sum := range d {
		if got := other[name]; got != sum {
			out = append(out, fmt.Sprintf("%s: %d and %d records", name, sum.Count, got.Count))
		}
	}
	slices.SortFunc(out, cmp.Compare[string])
	return out
}

// Read returns the digest of a store without concurrent changes.
func Read(ctx context.Context, s store.Store, c records.Collections) (Digest, error) {
	out := Digest{}
	for _, schema := range contents(c) {
		sum := summer{hash: sha256.New()}
		for after := ""; ; {
			rows, err := list(ctx, s, schema, after)
			if err != nil {
				return nil, err
			}
			for _, row := range rows {
				sum.add(row.Key, row.Revision, row.Body)
				after = row.Key
			}
			if len(rows) < page {
				break
			}
		}
		out[schema.Name] = sum.sum()
	}
	revs, err := accountRevisions(ctx, s)
	if err != nil {
		return nil, err
	}
	sum := summer{hash: sha256.New()}
	for _, r := range revs {
		sum.add(r.AccountID, r.Revision, nil)
	}
	out[revisions] = sum.sum()
	return out, nil
}

// contents returns the schemas of what a copy holds: all collections but the mark of a copy.
func contents(c records.Collections) []*store.Schema {
	return slices.DeleteFunc(c.Schemas(), func(s *store.Schema) bool { return s == c.Copies.Schema() })
}

// list returns one page of a collection.
func list(ctx context.Context, s store.Store, schema *store.Schema, after string) (rows []store.Row, err error) {
	err = s.View(ctx, func(tx store.Tx) (err error) {
		rows, err = tx.List(ctx, schema, after, page)
		return err
	})
	return rows, err
}

// accountRevisions returns the revisions of all accounts, in the order of their ids.
func accountRevisions(ctx context.Context, s store.Store) ([]store.AccountRevision, error) {
	all, _, err := s.Changes(ctx, math.MinInt64, math.MaxInt32-1)
	slices.SortFunc(all, func(a, b store.AccountRevision) int { return strings.Compare(a.AccountID, b.AccountID) })
	return all, err
}

// summer adds up a Sum.
type summer struct {
	hash  hash.Hash
	count int
}

// add hashes each part with its length before it: no two records give the same bytes.
func (s *summer) add(key string, revision int64, body []byte) {
	s.count++
	for _, part := range [][]byte{[]byte(key), strconv.AppendInt(nil, revision, 10), body} {
		s.hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		s.hash.Write(part)
	}
}

func (s *summer) sum() Sum {
	return Sum{Count: s.count, SHA256: hex.EncodeToString(s.hash.Sum(nil))}
}
