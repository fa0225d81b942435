package mongodb

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"
)

// codeUnauthorized is the server's for a user without the privilege.
const codeUnauthorized = 13

// Gateways returns how many connections the gateways of this database have, as the primary sees them.
// A user with the privilege `inprog` sees those of all users, another one its own.
func (s *Store) Gateways(ctx context.Context) (int, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	n, err := s.connections(ctx, true)
	if hasCode(err, codeUnauthorized) {
		n, err = s.connections(ctx, false)
	}
	return n, translate(ctx, err)
}

// connections counts the connections of gateways to this database; those of other users need the right to see them.
func (s *Store) connections(ctx context.Context, allUsers bool) (int, error) {
	admin := s.client.Database("admin", options.Database().SetReadConcern(readconcern.Local()))
	cursor, err := admin.Aggregate(ctx, mongo.Pipeline{
		{{Key: "$currentOp", Value: bson.D{{Key: "idleConnections", Value: true}, {Key: "allUsers", Value: allUsers}}}},
		{{Key: "$match", Value: bson.D{{Key: "clientMetadata.application.name", Value: applicationName(s.db.Name())}}}},
		{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "connectionId", Value: 1}}}},
	})
	if err != nil {
		return 0, err
	}
	var documents []bson.D
	err = cursor.All(ctx, &documents)
	return len(documents), err
}

// Name returns the hosts and the database of a URL, without user and password. Its errors repeat nothing
// of the URL, as those of Open.
func Name(url string) (string, error) {
	where, err := connstring.ParseAndValidate(url)
	if err != nil {
		return "", urlError(err)
	}
	hosts := slices.Clone(where.Hosts)
	slices.Sort(hosts)
	return "mongodb " + strings.Join(hosts, ",") + "/" + cmp.Or(where.Database, defaultDatabase), nil
}
