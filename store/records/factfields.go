package records

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
)

// The fields of records in facts, under the names of resources.User, resources.GroupMember and resources.Assignment. To
// decode the others, times above all, would cost each cache miss.
type (
	userFacts struct {
		UUID      string `json:"id"`
		AccountID string `json:"account_id"`
		Status    string `json:"status"`
		PartnerID string `json:"authentication_partner_id"`
	}
	memberFacts struct {
		GroupID string `json:"group_id"`
	}
	assignmentFacts struct {
		RoleID     string         `json:"role_id"`
		RoleScope  string         `json:"role_scope"`
		ProjectID  string         `json:"project_id"`
		ResourceID string         `json:"resource_id"`
		Status     string         `json:"status"`
		ExpiresAt  resources.Time `json:"expires_at"`
		CreatedAt  resources.Time `json:"created_at"`
		UpdatedAt  resources.Time `json:"updated_at"`
	}
)

// decoded returns the T in each row's body. The standard library takes a seventh of a cache miss longer for it (rolecache,
// BenchmarkColdFacts).
func decoded[T any](s *store.Schema, rows []store.Row) ([]T, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	out := make([]T, len(rows))
	for i, row := range rows {
		if err := json.Unmarshal(row.Body, &out[i]); err != nil {
			return nil, fmt.Errorf("store: %s: %w", s.Name, err)
		}
	}
	return out, nil
}
