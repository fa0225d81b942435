package question

import (
	"cmp"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// FillReason returns a decision for the asker: its reason has the question's own values in its places.
func FillReason(q *resources.Question, d resources.Decision) resources.Decision {
	d.Reason = Fill(d.Reason, func(path string) string { return textOf(q, path) })
	return d
}

// textOf returns one of the texts that reasons have places for.
func textOf(q *resources.Question, path string) string {
	switch path {
	case "action.id":
		return q.Action.ID
	case "account.id":
		return q.AccountID
	case "target.project":
		return q.Target.ProjectID
	case "target.resource":
		return q.Target.Resource
	case "subject.id":
		return subjectOf(q).UserID
	}
	return ""
}

// Fill puts values of the input into the places of a reason: {action}, {account}, {project}, {resource}, {user}, and
// {place}, which is the project, else the account, else "no account". Another name in braces stays as it is written, and
// a value that was put in is not looked into again.
func Fill(reason string, value func(path string) string) string {
	open := strings.IndexByte(reason, '{')
	if open < 0 {
		return reason
	}
	var out strings.Builder
	out.Grow(len(reason) + 2*len("proj-01h455vb4pex5vsknk084sn02q-v1"))
	for open >= 0 {
		out.WriteString(reason[:open])
		reason = reason[open:]
		name, _, closed := strings.Cut(reason[1:], "}")
		if text, isPlace := placed(name, value); closed && isPlace {
			out.WriteString(text)
			reason = reason[len(name)+2:]
		} else {
			out.WriteByte('{')
			reason = reason[1:]
		}
		open = strings.IndexByte(reason, '{')
	}
	out.WriteString(reason)
	return out.String()
}

// placed returns the text for a place in a reason.
func placed(name string, value func(path string) string) (text string, isPlace bool) {
	switch name {
	case "action":
		return value("action.id"), true
	case "place":
		return cmp.Or(value("target.project"), value("account.id"), "no account"), true
	case "account":
		return value("account.id"), true
	case "project":
		return value("target.project"), true
	case "resource":
		return value("target.resource"), true
	case "user":
		return value("subject.id"), true
	}
	return "", false
}
