package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/policies/compare/people"
)

// peopleLists returns the real users whom the change concerns.
func (r *Report) peopleLists() []*list {
	if r.People == nil {
		return nil
	}
	omitted := &list{title: "Not looked at among real users"}
	for _, o := range r.People.NotLookedAt {
		if o.Users > 0 {
			o.What += fmt.Sprintf(" (%d users)", o.Users)
		}
		omitted.add(o.What, 1)
	}
	return []*list{changes("Real users who gain", r.People.Gain), changes("Real users who lose", r.People.Lose), omitted}
}

// peopleLine says how many users were looked at.
func (r *Report) peopleLine() string {
	p := r.People
	if p == nil {
		return ""
	}
	facts := fmt.Sprintf("epoch %d", p.Facts.From)
	if p.Facts.From != p.Facts.To {
		facts = fmt.Sprintf("epochs %d to %d", p.Facts.From, p.Facts.To)
	}
	return fmt.Sprintf("real users: %d, accounts: %d, distinct sets of facts: %d, questions: %d, %s\n", p.Users, p.Accounts, p.FactSets, p.Questions, facts)
}

func changes(title string, all []people.Change) *list {
	out := &list{title: title}
	for i := range all {
		out.add(changeText(&all[i]), 1)
	}
	return out
}

// changeText returns a change in words.
func changeText(c *people.Change) string {
	parts := []string{c.Entry, c.Route, c.Action, strings.Join(c.Grants, ", "), "at " + c.Place, c.Path}
	if c.About != "" {
		parts = append(parts, "about "+c.About)
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	var users []string
	for _, u := range c.Named {
		name := u.User
		if u.Account != "" {
			name += " of " + u.Account
		}
		if len(u.Places) > 0 {
			name += " (" + strings.Join(u.Places, ", ") + ")"
		}
		users = append(users, name)
	}
	if more := c.Users - len(users); more > 0 {
		users = append(users, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%d by %s: %s: %s", c.Users, strings.Join(c.By, ", "), strings.Join(parts, ", "), strings.Join(users, "; "))
}
