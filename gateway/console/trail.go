package console

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/portcullis-authz/portcullis/resources"
)

// trailStep is a step in the explanation of a verdict.
type trailStep struct {
	// State is pass, fail, or none for an empty step.
	State, Title string
	Conditions   []resources.Condition
	Grants       []resources.ExplainedGrant
	Rules        []resources.PolicyRule
	// Empty is the sentence of an empty step.
	Empty string
}

// Open reports whether the page shows the step's list unfolded.
func (s trailStep) Open() bool { return s.State != "pass" || len(s.Grants) > 0 }

// trailOf returns the steps of a verdict: conditions, grants, deny rules.
func trailOf(x *resources.Explanation) []trailStep {
	return []trailStep{conditionStep(x.Conditions), grantStep(x.Grants), denyStep(x.Denies)}
}

func conditionStep(all []resources.Condition) trailStep {
	s := trailStep{State: "pass", Conditions: all, Empty: "This policy names no conditions."}
	failing := 0
	for _, one := range all {
		if !one.Holds {
			failing++
		}
	}
	switch {
	case len(all) == 0:
		s.State, s.Title = "none", "No conditions"
	case failing == 0:
		s.Title = "All conditions hold"
	default:
		s.State, s.Title = "fail", fmt.Sprintf("%d of %d conditions %s", failing, len(all), plural(failing, "fails", "fail"))
	}
	return s
}

func grantStep(all []resources.ExplainedGrant) trailStep {
	s := trailStep{State: "fail", Grants: all, Empty: "The user holds no role that could matter here."}
	counting := 0
	for _, one := range all {
		if one.Counts {
			counting++
		}
	}
	switch {
	case counting > 0:
		s.State, s.Title = "pass", fmt.Sprintf("%d of %d %s", counting, len(all), plural(counting, "grants counts", "grants count"))
	case len(all) == 0:
		s.Title = "No grants"
	case len(all) == 1:
		s.Title = "The one grant does not count"
	default:
		s.Title = fmt.Sprintf("None of %d grants counts", len(all))
	}
	return s
}

func denyStep(all []resources.PolicyRule) trailStep {
	if len(all) == 0 {
		return trailStep{State: "pass", Title: "No deny rule speaks against it", Empty: "A deny rule outweighs every grant. None fires here."}
	}
	return trailStep{State: "fail", Title: fmt.Sprintf("%d deny %s against it", len(all), plural(len(all), "rule speaks", "rules speak")), Rules: all}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// conditionTexts describes the conditions of the shipped policy.
var conditionTexts = map[string]string{
	"needs_active_member":    "The user is an active member of the account",
	"needs_active_account":   "The account is active",
	"needs_same_account":     "The place is in this account",
	"needs_account_level":    "An account action is asked on the account",
	"needs_active_project":   "The project, if one is named, is an active one of the account",
	"needs_credential_scope": "The credential's scopes allow it",
	"needs_registered_agent": "The account has registered the agent, if one acts",
	"needs_active_agent":     "The agent, if one acts, is not suspended",
	"needs_delegation":       "The user has delegated this to the agent, if one acts",
}

// ConditionText describes a condition. It returns the name of a condition that the shipped policy does not have.
func (trailStep) ConditionText(c resources.Condition) string {
	if !c.Holds && c.Says != "" {
		return sentence(c.Says)
	}
	if text, ok := conditionTexts[c.Name]; ok {
		return text
	}
	return sentence(strings.ReplaceAll(c.Name, "_", " "))
}

// sentence capitalizes the first letter.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// Headline returns the verdict's reason as a sentence.
func (v askView) Headline() string { return sentence(v.Answer.Reason) }
