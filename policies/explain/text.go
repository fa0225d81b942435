package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// branch is a line of a tree with those below it.
type branch struct {
	text     string
	branches []branch
}

// Lines returns an explanation as a tree for people.
func Lines(x resources.Explanation) []string {
	root := branch{text: "denied: " + x.Reason}
	if x.Allowed {
		root.text = "allowed: " + x.Reason
	}
	if x.Code != "" {
		root.text += " [" + x.Code + "]"
	}
	add := func(title string, parts []branch) {
		if len(parts) > 0 {
			root.branches = append(root.branches, branch{title, parts})
		}
	}
	add("conditions", branches(x.Conditions, conditionLine))
	add("assignments", branches(x.Grants, grantLine))
	add("deny rules that fire", branches(x.Denies, ruleLine))
	var fixes []branch
	for i, fix := range x.Fixes {
		fixes = append(fixes, branch{fmt.Sprintf("%d. %s", i+1, fixLine(fix)), branches(fix.Steps, stepLine)})
	}
	add("would be allowed after one of", fixes)
	add("no change gets past", branches(x.BlockedBy, ruleLine))
	if !x.Complete {
		root.branches = append(root.branches, branch{text: "not everything was looked at"})
	}
	root.branches = append(root.branches, branch{text: fmt.Sprintf("policy %s, account revision %d, %s", x.PolicyRevision, x.AccountRevision, x.DecidedAt)})
	return append([]string{root.text}, drawn(root.branches, "")...)
}

func drawn(branches []branch, indent string) (lines []string) {
	for i, b := range branches {
		edge, line := "├─ ", "│  "
		if i == len(branches)-1 {
			edge, line = "└─ ", "   "
		}
		lines = append(append(lines, indent+edge+b.text), drawn(b.branches, indent+line)...)
	}
	return lines
}

func branches[T any](all []T, line func(T) string) (out []branch) {
	for _, one := range all {
		out = append(out, branch{text: line(one)})
	}
	return out
}

func conditionLine(c resources.Condition) string {
	if c.Holds {
		return "yes  " + c.Name
	}
	return "no   " + c.Name + ": " + c.Says
}

func grantLine(g resources.ExplainedGrant) string {
	role := g.RoleID + placed(g.ProjectID, g.ResourceID)
	if g.GroupID != "" {
		role += " through " + g.GroupID
	}
	if g.Counts {
		return "yes  " + role
	}
	return "no   " + role + ": " + g.WhyNot
}

// placed says where something is assigned.
func placed(project, resource string) string {
	switch {
	case resource != "":
		return " on " + resource + " in " + project
	case project != "":
		return " in " + project
	}
	return " in the account"
}

func ruleLine(r resources.PolicyRule) string {
	if r.At == "" {
		return r.Reason
	}
	return r.Reason + " (" + r.At + ")"
}

func fixLine(f resources.Fix) string {
	line := fmt.Sprintf("allows %d other actions here", f.AlsoAllows)
	if f.Affects != nil {
		line += fmt.Sprintf(", affects %d other users", *f.Affects)
	}
	return line
}

// stepLine returns a step of a fix in words.
func stepLine(s resources.Step) string {
	group := ""
	if s.GroupID != "" {
		group = " through " + s.GroupID
	}
	switch s.Kind {
	case resources.StepAssign:
		return "assign " + s.RoleID + placed(s.ProjectID, s.ResourceID)
	case resources.StepExtend:
		return "extend " + s.RoleID + placed(s.ProjectID, s.ResourceID) + group + ", as until " + s.Until.String()
	case resources.StepActivateAssignment:
		return "activate the assignment of " + s.RoleID + placed(s.ProjectID, s.ResourceID) + group
	case resources.StepActivateUser:
		return "activate the user"
	case resources.StepActivateAccount:
		return "activate the account"
	case resources.StepActivateRole:
		return "activate the role " + s.RoleID
	case resources.StepAddPermission:
		return "add " + s.Permission + " to the role " + s.RoleID
	case resources.StepUseKey:
		return "use a key with the scope " + cmp.Or(strings.Join(s.Scopes, " "), "it needs")
	}
	return s.Kind
}
