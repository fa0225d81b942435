package access

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/wire"
	"github.com/portcullis-authz/portcullis/store"
)

// Bootstrap is a first account with its admin and, where ProjectID is set, a project.
type Bootstrap struct {
	// AccountID is needed: by it a repeat knows what is there.
	AccountID, AccountName string
	// AdminEmail is needed. AdminID is the admin's external id; without it the admin
	// is invited. AdminName is used for a new user only: it is that user's to change.
	AdminEmail, AdminID, AdminName string
	// ProjectName is ProjectID where it is "".
	ProjectID, ProjectName string
}

// Bootstrapped is what is there after a Bootstrap.
type Bootstrapped struct {
	Account resources.Account     `json:"account"`
	Admin   resources.UserProfile `json:"admin"`
	Project *ProjectView          `json:"project,omitempty"`
}

// Bootstrap makes, without a caller, what account.create and project.create make, in one step. What is there
// as it was asked for stays as it is; what differs is a CONFLICT that names it.
func (s *Service) Bootstrap(ctx context.Context, b Bootstrap) (Bootstrapped, error) {
	draft, project, err := b.check()
	if err != nil {
		return Bootstrapped{}, err
	}
	var out Bootstrapped
	err = s.Store.Transact(ctx, func(tx store.Tx) error {
		for _, account := range []string{"", draft.id} {
			if _, err := tx.Bump(ctx, account); err != nil {
				return err
			}
		}
		made, err := s.accountAsAsked(ctx, tx, draft)
		if err != nil {
			return err
		}
		out = Bootstrapped{Account: made.Account, Admin: made.Admin}
		if project.ID == "" {
			return nil
		}
		out.Project, err = s.projectAsAsked(ctx, tx, project, b.ProjectName != "")
		return err
	})
	if err != nil {
		return Bootstrapped{}, fmt.Errorf("access: bootstrap: %w", err)
	}
	return out, nil
}

// check gives the drafts of what is asked for, or all that is wrong with it.
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

// accountAsAsked makes the account, or finds it made as the draft says.
func (s *Service) accountAsAsked(ctx context.Context, tx store.Tx, d accountDraft) (accountMade, error) {
	account, err := s.c.Accounts.Get(ctx, tx, d.id)
	if errors.Is(err, store.ErrNotFound) {
		return s.makeAccount(ctx, tx, d)
	}
	if err != nil {
		return accountMade{}, err
	}
	var differs []string
	if account.Value.Name != d.name {
		differs = append(differs, fmt.Sprintf("its name is %q", account.Value.Name))
	}
	user, err := s.c.UserByEmail(ctx, tx, d.admin.email)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return accountMade{}, err
	}
	if err != nil || user.Value.AccountID != d.id {
		differs = append(differs, fmt.Sprintf("%s is not a member of it", d.admin.email))
	} else {
		if d.admin.externalID != "" && user.Value.ExternalID != d.admin.externalID {
			differs = append(differs, fmt.Sprintf("the external id of %s is %s", d.admin.email, user.Value.ExternalID))
		}
		is, err := s.isAdmin(ctx, tx, user.Value)
		if err != nil {
			return accountMade{}, err
		}
		if !is {
			differs = append(differs, fmt.Sprintf("%s is not an %s of it", d.admin.email, resources.RoleAccountAdmin))
		}
	}
	if len(differs) > 0 {
		return accountMade{}, resources.Conflict("The account %s is there already, but %s.", d.id, strings.Join(differs, "; "))
	}
	return accountMade{Account: account.Value, Admin: user.Value.Profile()}, nil
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

// projectAsAsked makes the project, or finds it made; its name counts where it was given.
func (s *Service) projectAsAsked(
	ctx context.Context, tx store.Tx, want resources.Project, nameGiven bool,
) (*ProjectView, error) {
	found, err := s.c.Projects.Get(ctx, tx, want.ID)
	if errors.Is(err, store.ErrNotFound) {
		return s.makeProject(ctx, tx, want)
	}
	if err != nil {
		return nil, err
	}
	have := found.Value
	switch {
	case have.AccountID != want.AccountID:
		return nil, resources.Conflict("The project %s is there already, but in another account.", want.ID)
	case have.State != resources.ProjectActive:
		return nil, resources.Conflict("The project %s was deleted; its id is never given again.", want.ID)
	case nameGiven && have.Name != want.Name:
		return nil, resources.Conflict("The project %s is there already, but its name is %q.", want.ID, have.Name)
	}
	return projectView(have), nil
}
