package diff

import (
	"fmt"
	"strings"

	"github.com/portcullis-authz/portcullis/policies/compare/people"
)

// peopleSections returns the real users whom the change concerns.
func (r *Report) peopleSections() []section {
	p := r.People
	if p == nil {
		return nil
	}
	left := section{title: "Not looked at among real users", size: len(p.NotLookedAt)}
	for _, of := range p.NotLookedAt[:min(shown, len(p.NotLookedAt))] {
		line := of.What
		if of.Users > 0 {
			line += fmt.Sprintf(" (%d users)", of.Users)
		}
		left.lines = append(left.lines, line)
	}
	return []section{changes("Real users who gain", p.Gain), changes("Real users who lose", p.Lose), left}
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

func changes(title string, of []people.Change) section {
	out := section{title: title, size: len(of)}
	for i := range of[:min(shown, len(of))] {
		out.lines = append(out.lines, peopleChange(&of[i]))
	}
	return out
}

// peopleChange returns a change in words.
func peopleChange(c *people.Change) string {
	parts := []string{c.Entry}
	if c.Route != "" {
		parts = append(parts, c.Route)
	}
	if c.Action != "" {
		parts = append(parts, c.Action)
	}
	if len(c.Grants) > 0 {
		parts = append(parts, strings.Join(c.Grants, ", "))
	}
	parts = append(parts, "at "+c.Place)
	if c.Path != "" {
		parts = append(parts, c.Path)
	}
	if c.About != "" {
		parts = append(parts, "about "+c.About)
	}
	var named []string
	for _, of := range c.Named {
		name := of.User
		if of.Account != "" {
			name += " of " + of.Account
		}
		if len(of.Places) > 0 {
			name += " (" + strings.Join(of.Places, ", ") + ")"
		}
		named = append(named, name)
	}
	if left := c.Users - len(named); left > 0 {
		named = append(named, fmt.Sprintf("%d more", left))
	}
	return fmt.Sprintf("%d by %s: %s: %s", c.Users, strings.Join(c.By, ", "), strings.Join(parts, ", "), strings.Join(named, "; "))
}
