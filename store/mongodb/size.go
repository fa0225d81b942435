package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Bytes returns what the database and its indexes take on disk.
func (s *Store) Bytes(ctx context.Context) (int64, error) {
	leave, err := s.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	var stats struct {
		Data  float64 `bson:"storageSize"`
		Index float64 `bson:"indexSize"`
	}
	if err := s.db.RunCommand(ctx, bson.D{{Key: "dbStats", Value: 1}}).Decode(&stats); err != nil {
		return 0, translate(ctx, err)
	}
	return int64(stats.Data + stats.Index), nil
}
