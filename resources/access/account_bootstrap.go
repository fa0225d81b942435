package access

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/changes"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// Bootstrap is an account to be made, with its admin and, where ProjectID is set, a project.
type Bootstrap struct {
	// AccountID and AccountName are required. A repeated bootstrap finds the account by its id.
	AccountID, AccountName string
	// AdminEmail is required.
	AdminEmail string
	// AdminID is the admin's external id; without it the admin is invited.
	AdminID string
	// AdminName is used for a new user only, since users may change their names.
	AdminName string
	// ProjectName is ProjectID where it is "".
	ProjectID, ProjectName string
}

// Bootstrapped is the result of a Bootstrap.
type Bootstrapped struct {
	Account resources.Account     `json:"account"`
	Admin   resources.UserProfile `json:"admin"`
	Project *ProjectView          `json:"project,omitempty"`
}

// Bootstrap does account.create and project.create in one transaction and without a caller. An
// existing account or project stays as it is if it equals the description. Otherwise the error is a
// conflict and names the difference.
func (s *Service) Bootstrap(ctx context.Context, b Bootstrap) (Bootstrapped, error) {
	draft, project, err := b.check()
	if err != nil {
		return Bootstrapped{}, err
	}
	var out Bootstrapped
	err = s.Store.Transact(changes.OfSystem(ctx, "account.bootstrap"), func(tx store.Tx) error {
		if err := store.BumpAll(ctx, tx, "", draft.id); err != nil {
			return err
		}
		made, err := s.ensureAccount(ctx, tx, draft)
		if err != nil {
			return err
		}
		out = Bootstrapped{Account: made.Account, Admin: made.Admin}
		if project.ID == "" {
			return nil
		}
		out.Project, err = s.ensureProject(ctx, tx, project, b.ProjectName != "")
		return err
	})
	if err != nil {
		return Bootstrapped{}, fmt.Errorf("access: bootstrap: %w", err)
	}
	return out, nil
}

// check returns the drafts of account and project, or an error with all problems.
func (b Bootstrap) check() (accountDraft, resources.Project, error) {
	var p wire.Problems
	checkPatternID(&p, "account", resources.PrefixAccount, b.AccountID)
	d := accountDraft{id: b.AccountID, name: checkName(&p, "name", b.AccountName)}
	checkEmail(&p, "admin-email", b.AdminEmail)
	d.admin = adminDraft{email: b.AdminEmail, externalID: b.AdminID}
	if b.AdminID != "" {
		checkUserID(&p, "user", b.AdminID)
	}
	if b.AdminName != "" {
		d.admin.name = checkName(&p, "admin-name", b.AdminName)
	}
	project := resources.Project{ID: b.ProjectID, AccountID: b.AccountID, Name: b.ProjectID}
	if b.ProjectID != "" {
		checkPatternID(&p, "project", resources.PrefixProject, b.ProjectID)
	}
	if b.ProjectName != "" {
		project.Name = checkName(&p, "project-name", b.ProjectName)
	}
	return d, project, p.Err()
}

// ensureAccount makes the account, unless it exists as the draft describes it; 409 if it
// differs.
func (s *Service) ensureAccount(ctx context.Context, tx store.Tx, d accountDraft) (accountMade, error) {
	account, err := s.c.Accounts.Get(ctx, tx, d.id)
	if errors.Is(err, store.ErrNotFound) {
		return s.makeAccount(ctx, tx, d)
	}
	if err != nil {
		return accountMade{}, err
	}
	var differences []string
	if account.Value.Name != d.name {
		differences = append(differences, fmt.Sprintf("its name is %q", account.Value.Name))
	}
	admin, more, err := s.compareAdmin(ctx, tx, d)
	if err != nil {
		return accountMade{}, err
	}
	if differences = append(differences, more...); len(differences) > 0 {
		return accountMade{}, resources.Conflict("The account %s is there already, but %s.", d.id, strings.Join(differences, "; "))
	}
	return accountMade{Account: account.Value, Admin: admin.Profile()}, nil
}

// compareAdmin reads the user with the address of the draft's admin, and says how they differ
// from the draft.
func (s *Service) compareAdmin(ctx context.Context, tx store.Tx, d accountDraft) (admin resources.User, differences []string, err error) {
	user, err := store.Lookup(s.c.UserByEmail(ctx, tx, d.admin.email))
	if err != nil {
		return resources.User{}, nil, err
	}
	if user == nil || user.Value.AccountID != d.id {
		return resources.User{}, []string{d.admin.email + " is not a member of it"}, nil
	}
	if d.admin.externalID != "" && user.Value.ExternalID != d.admin.externalID {
		differences = append(differences, fmt.Sprintf("the external id of %s is %s", d.admin.email, user.Value.ExternalID))
	}
	isAdmin, err := s.isAdmin(ctx, tx, user.Value)
	if err == nil && !isAdmin {
		differences = append(differences, fmt.Sprintf("%s is not an %s of it", d.admin.email, resources.RoleAccountAdmin))
	}
	return user.Value, differences, err
}

// isAdmin says whether the user holds account_admin now, directly or through a group.
func (s *Service) isAdmin(ctx context.Context, tx store.Tx, u resources.User) (bool, error) {
	held, err := s.c.HeldRoles(ctx, tx, u.AccountID, u.ExternalID)
	if err != nil {
		return false, err
	}
	for _, h := range held {
		if h.RoleID == resources.RoleAccountAdmin && h.ProjectID == "" && h.Status == resources.StatusActive &&
			(h.ExpiresAt == 0 || s.now() < h.ExpiresAt) {
			return true, nil
		}
	}
	return false, nil
}

// ensureProject makes the project, unless it exists as described; 409 if it differs. The name
// is compared where nameGiven.
func (s *Service) ensureProject(
	ctx context.Context, tx store.Tx, want resources.Project, nameGiven bool,
) (*ProjectView, error) {
	rec, err := s.c.Projects.Get(ctx, tx, want.ID)
	if errors.Is(err, store.ErrNotFound) {
		return s.makeProject(ctx, tx, want)
	}
	if err != nil {
		return nil, err
	}
	have := rec.Value
	switch {
	case have.AccountID != want.AccountID:
		return nil, resources.Conflict("The project %s is there already, but in another account.", want.ID)
	case have.State != resources.ProjectActive:
		return nil, resources.Conflict("The project %s was deleted; its id can't be used again.", want.ID)
	case nameGiven && have.Name != want.Name:
		return nil, resources.Conflict("The project %s is there already, but its name is %q.", want.ID, have.Name)
	}
	return projectView(have), nil
}
