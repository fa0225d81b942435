package resources

// Explanation says why a question is decided as it is, and what would have it allowed. The zero value denies.
type Explanation struct {
	Allowed         bool   `json:"allowed"`
	Reason          string `json:"reason"`
	Code            string `json:"code"`
	PolicyRevision  string `json:"policy_revision"`
	AccountRevision int64  `json:"account_revision"`
	DecidedAt       Time   `json:"decided_at"`
	// Conditions are those of the policy tree, by name.
	Conditions []Condition `json:"conditions"`
	// Grants are the subject's assignments that could matter to the question.
	Grants []ExplainedGrant `json:"grants"`
	// Denies are the deny rules that fire.
	Denies []PolicyRule `json:"denies"`
	// Fixes are the smallest changes after which the question is allowed, the best one first.
	Fixes []Fix `json:"fixes"`
	// BlockedBy are the rules no change gets past; it is empty if Fixes has one.
	BlockedBy []PolicyRule `json:"blocked_by"`
	// Complete says that every candidate was tried. It is false after a bound of the search, and for a user who may not
	// learn the result.
	Complete bool `json:"complete"`
}

// Condition is a condition of the policy tree. It must hold for every role.
type Condition struct {
	Name  string `json:"name"`
	Holds bool   `json:"holds"`
	// Says is the reason of the denial, "" if the condition holds.
	Says string `json:"says,omitempty"`
}

// ExplainedGrant is an assignment of the subject, and whether it grants what is asked.
type ExplainedGrant struct {
	RoleID     string `json:"role"`
	ProjectID  string `json:"project_id,omitempty"`
	ResourceID string `json:"resource_id,omitempty"`
	GroupID    string `json:"group_id,omitempty"`
	Counts     bool   `json:"counts"`
	// WhyNot is the first thing that keeps it from counting.
	WhyNot string `json:"why_not,omitempty"`
}

// PolicyRule is a rule of the policy tree that speaks against the question.
type PolicyRule struct {
	Reason string `json:"reason"`
	// At is `file:line` in the tree, "" if it is hidden or unknown.
	At string `json:"at,omitempty"`
}

// Fix is a change after which the question is allowed. Without any one of its steps it is denied.
type Fix struct {
	Steps []Step `json:"steps"`
	// AlsoAllows is how many other actions of the catalogue the change lets the subject do at this target.
	AlsoAllows int `json:"also_allows"`
	// Affects is how many other users the steps change; nil if the caller may not know.
	Affects *int `json:"affects,omitempty"`
}

// Kinds of step, in an order somebody with all the rights can do them in.
const (
	StepActivateAccount    = "activate_account"
	StepActivateUser       = "activate_user"
	StepActivateRole       = "activate_role"
	StepAddPermission      = "add_permission"
	StepAssign             = "assign"
	StepExtend             = "extend"
	StepActivateAssignment = "activate_assignment"
	StepUseKey             = "use_key"
)

// Step is one change of a fix.
type Step struct {
	Kind       string `json:"kind"`
	RoleID     string `json:"role,omitempty"`
	ProjectID  string `json:"project_id,omitempty"`
	ResourceID string `json:"resource_id,omitempty"`
	// GroupID is the group through which the assignment is held; "" for the user's own.
	GroupID    string `json:"group_id,omitempty"`
	Permission string `json:"permission,omitempty"`
	// Scopes are those that the key must have.
	Scopes []string `json:"scopes,omitempty"`
	// Until is an end of the assignment that is late enough.
	Until Time `json:"until,omitzero"`
}
