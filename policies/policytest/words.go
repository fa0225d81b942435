package policytest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/portcullis-authz/portcullis/resources"
)

// Words are the texts and the times in rules and data.
type Words struct {
	Texts []string
	Times []resources.Time
}

// NewWords returns the words of the sources. For a text with a separator it adds the texts on both sides.
func NewWords(sources ...string) *Words {
	w := &Words{}
	for _, source := range sources {
		for _, quoted := range quoted().FindAllString(source, -1) {
			text := unquoted(quoted)
			w.Texts = append(w.Texts, text)
			for _, separator := range []string{"/", ":"} {
				if before, after, cut := strings.Cut(text, separator); cut {
					w.Texts = append(w.Texts, before, after)
				}
			}
		}
		for _, number := range number().FindAllString(source, -1) {
			var value float64
			if _, err := fmt.Sscan(number, &value); err == nil && 1e6 < value && value < float64(never) {
				w.Times = append(w.Times, resources.Time(value))
			}
		}
	}
	slices.Sort(w.Texts)
	slices.Sort(w.Times)
	w.Texts, w.Times = slices.Compact(w.Texts), slices.Compact(w.Times)
	return w
}

func quoted() *regexp.Regexp { return regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`) }

func number() *regexp.Regexp { return regexp.MustCompile(`-?\b[0-9]+(?:\.[0-9]+)?(?:e[0-9]+)?\b`) }

// near returns one of the texts, or a variation of it.
func (r Random) near(w *Words) string {
	text := One(r.Rand, w.Texts...)
	switch r.IntN(12) {
	case 0:
		return text + One(r.Rand, "x", "/below", "-v1", "0")
	case 1:
		return text[:r.IntN(len(text)+1)]
	case 2:
		return One(r.Rand, strings.ToUpper(text), strings.ToLower(text))
	case 3:
		return One(r.Rand, "x", "acct-", "user-", "instances/", "~") + text
	}
	return text
}

// around returns one of the times, or one next to it.
func (r Random) around(w *Words) resources.Time {
	return max(1, One(r.Rand, w.Times...)+resources.Time(r.IntN(3)-1))
}

// Planted returns the question with one of its texts or times replaced by one from the words, or near it.
func (r Random) Planted(ask Ask, w *Words) Ask {
	a := ask
	a.unshare()
	if len(w.Times) > 0 && r.IntN(4) == 0 {
		*One(r.Rand, a.times()...) = r.around(w)
	} else if len(w.Texts) > 0 {
		*One(r.Rand, a.texts()...) = r.near(w)
	}
	a.share(&ask)
	return a
}

// rename replaces a name by another one in all texts of the question.
func (a *Ask) rename(r Random, old string, next ...string) {
	if old == "" {
		return
	}
	another := One(r.Rand, next...)
	for _, name := range a.texts() {
		if *name == old {
			*name = another
		}
	}
}

// texts returns the names of users, accounts, projects and resources in the question.
func (a *Ask) texts() []*string {
	q := &a.Question
	texts := []*string{
		&q.Principal.ID, &q.Principal.UUID, &q.Principal.AccountID, &q.AccountID, &q.Target.AccountID, &q.Target.ProjectID,
		&q.Target.Resource, &q.Target.Rest, &q.Target.UserID,
	}
	if s := q.Facts.Subject; s != nil {
		texts = append(texts, &s.AccountID, &s.UserID, &s.UserUUID, &s.HomeID)
		for i := range s.Assignments {
			texts = append(texts, &s.Assignments[i].ProjectID, &s.Assignments[i].ResourceID)
		}
	}
	return texts
}

func (a *Ask) times() []*resources.Time {
	times := []*resources.Time{&a.Question.Now, &a.Question.Now, &a.Until}
	if s := a.Question.Facts.Subject; s != nil {
		for i := range s.Assignments {
			times = append(times, &s.Assignments[i].ExpiresAt)
		}
	}
	return times
}
