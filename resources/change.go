package resources

import "encoding/json"

// PrefixChange begins the id of a change record.
const PrefixChange = "change"

// ActorSystem is the kind of an actor other than a caller: a command, or the first sign-in of a user.
const ActorSystem = "system"

// Change is the record of one change of an account: who changed what, from what and to what.
type Change struct {
	ID        string `json:"id"`
	At        Time   `json:"at"`
	AccountID string `json:"account_id"`
	// AccountRevision is the account's revision after the change. Number orders the changes of one commit. Both give
	// the order of an account's changes.
	AccountRevision int64 `json:"account_revision"`
	Number          int64 `json:"number"`

	Actor     ChangeActor   `json:"actor"`
	RequestID string        `json:"request_id,omitempty"`
	Action    string        `json:"action"`
	Subject   ChangeSubject `json:"subject"`
	ChangeSides
	// Parts is how many parts a store keeps the sides in, apart from the record; 0 is none.
	Parts int64 `json:"parts,omitempty"`
}

// ChangeSides are what the API shows of the subject, with lists of what went along with it; nil is absent.
type ChangeSides struct {
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

// ShownChange is a change as responses show it.
type ShownChange struct {
	ID              string        `json:"id"`
	At              Time          `json:"at"`
	AccountRevision int64         `json:"account_revision"`
	Actor           ChangeActor   `json:"actor"`
	RequestID       string        `json:"request_id"`
	Action          string        `json:"action"`
	Subject         ChangeSubject `json:"subject"`
	Before          any           `json:"before,omitempty"`
	After           any           `json:"after,omitempty"`
}

// ChangeActor is who made a change.
type ChangeActor struct {
	// Kind is user, service or system.
	Kind string `json:"kind"`
	ID   string `json:"id"`
	// Credential is token or api_key, "" for the system.
	Credential string `json:"credential,omitempty"`
	KeyID      string `json:"key_id,omitempty"`
}

// ChangeSubject is what was changed.
type ChangeSubject struct {
	// Type is account, project, role, role_assignment, group, group_member, user, api_key, agent, delegation or approval.
	Type string `json:"type"`
	// ID is the id in the path or the answer. For an assignment or a membership it is the id of its user or
	// group.
	ID string `json:"id"`
}

// ActorOf returns the actor that a caller is.
func ActorOf(p Principal) ChangeActor {
	a := ChangeActor{Kind: p.Kind, ID: p.ID, Credential: "token"}
	if p.Credential == CredentialKey {
		a.Credential, a.KeyID = "api_key", p.KeyID
	}
	return a
}
