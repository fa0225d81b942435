package records

import (
	"context"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// Located names a resource of an account. A project has its own id twice.
type Located struct{ ProjectID, ID string }

// Locate returns the resources of a collection with ByPlace, by project and id: the account's first ones after the
// given one. A named project limits them to it.
func (c Collections) Locate(
	ctx context.Context, tx store.Tx, schema *store.Schema, account, project string, after Located, limit int,
) ([]Located, error) {
	q := store.Query{Index: ByPlace, Equal: []store.Value{store.String(account)}, Limit: limit}
	switch {
	case schema == c.Projects.Schema():
		if project != "" {
			return c.locateProject(ctx, tx, account, project, after)
		}
		if after.ID != "" {
			q.After = &store.Cursor{Key: after.ID}
		}
	case project != "":
		q.Equal = append(q.Equal, store.String(project))
		if after.ProjectID > project {
			return nil, nil
		}
		if after.ProjectID == project {
			q.After = &store.Cursor{Key: after.ID}
		}
	case after.ID != "":
		q.After = &store.Cursor{Values: []store.Value{store.String(after.ProjectID)}, Key: after.ID}
	}
	cursors, err := tx.Scan(ctx, schema, q)
	out := make([]Located, len(cursors))
	for i, cursor := range cursors {
		out[i] = Located{ProjectID: cursor.Key, ID: cursor.Key}
		switch {
		case len(cursor.Values) > 0:
			out[i].ProjectID = cursor.Values[0].Text()
		case project != "":
			out[i].ProjectID = project
		}
	}
	return out, err
}

// locateProject returns the project itself, if it is one of the account's.
func (c Collections) locateProject(ctx context.Context, tx store.Tx, account, project string, after Located) ([]Located, error) {
	if project <= after.ID {
		return nil, nil
	}
	rec, err := store.Lookup(c.Projects.Get(ctx, tx, project))
	if err != nil || rec == nil || rec.Value.AccountID != account || rec.Value.State == resources.ProjectDeleted {
		return nil, err
	}
	return []Located{{ProjectID: project, ID: project}}, nil
}
