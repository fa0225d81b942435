package decisions

import (
	"context"
	"encoding/json"
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/gate"
	"github.com/portcullis-authz/portcullis/store/decisionlog"
)

// Question asks a gateway for the decisions in its folder.
type Question struct {
	Filter decisionlog.Filter `json:"filter"`
	// Forward asks for those behind the places, the oldest first; else for those before, the newest first.
	Forward bool               `json:"forward"`
	Places  decisionlog.Places `json:"places"`
	// Floor, unless nil, asks for the newest behind these places. Without Places they are searched from the ends.
	Floor decisionlog.Places `json:"floor"`
	Began resources.Time     `json:"began"`
	Size  int                `json:"size"`
	// Within is how long the search may take in milliseconds.
	Within int64 `json:"within"`
	// Strangers says that the asker may read of subjects outside the account.
	Strangers bool `json:"strangers"`
	// WithoutInputs leaves out what policy read.
	WithoutInputs bool `json:"without_inputs"`
}

// Row is a decision with the place of its log at it.
type Row struct {
	At     resources.Time     `json:"at"`
	ID     string             `json:"id"`
	Passed decisionlog.Places `json:"passed"`
	Event  json.RawMessage    `json:"event"`
}

// Answer is a gateway's answer to a Question.
type Answer struct {
	Rows []Row `json:"rows"`
	// Places are how far it has looked, for a Floor where it began. Ends are where the logs ended before.
	Places decisionlog.Places `json:"places"`
	Ends   decisionlog.Places `json:"ends"`
	// More says that there may be more. Unreadable means unreadable lines.
	More       bool `json:"more"`
	Unreadable bool `json:"unreadable"`
}

// Source answers questions: the log of this process, or another gateway.
type Source interface {
	// Ask returns the answer. An error says that the source can't be reached, or can't read its log.
	Ask(ctx context.Context, q *Question) (*Answer, error)
}

// Folder is the Source of this process.
type Folder struct {
	// Dir is the folder of the logs, Index an index of their growing segments.
	Dir   string
	Index *decisionlog.Index
	// Input renders what policy read of a recorded question.
	Input decisionlog.Input
	// Turns bounds the readings at once; accounts take turns.
	Turns *gate.Gate
}

// Ask implements Source.
func (f Folder) Ask(ctx context.Context, q *Question) (*Answer, error) {
	if err := f.Turns.Enter(ctx, q.Filter.Account); err != nil {
		return nil, err
	}
	defer f.Turns.Leave()
	a := &Answer{Rows: []Row{}}
	r := decisionlog.Reader{Dir: f.Dir, Index: f.Index, Missing: func(m decisionlog.Missing) { a.Unreadable = a.Unreadable || m.Unreadable > 0 }}
	var err error
	if a.Ends, err = r.Ends(); err != nil {
		return nil, err
	}
	s := decisionlog.Search{
		Filter: q.Filter, Size: q.Size, Began: q.Began, Floor: q.Floor, Deadline: time.Now().Add(time.Duration(q.Within) * time.Millisecond),
	}
	read := r.Before
	if q.Forward {
		read = r.After
	}
	places := q.Places
	if places == nil && !q.Forward {
		places = a.Ends // what is written meanwhile is a follower's
	}
	page, err := read(ctx, s, places)
	if err != nil {
		return nil, err
	}
	if a.Places, a.More = page.Places, page.More; q.Floor != nil {
		a.Places = places
	}
	input := f.Input
	if q.WithoutInputs {
		input = noInput
	}
	for _, rec := range page.Records {
		e := rec.Event(input)
		if q.Filter.ID != "" {
			if e.Place, err = rec.Place(); err != nil {
				return nil, err
			}
		}
		if !q.Strangers {
			ForUser(&e)
		}
		if q.WithoutInputs {
			e.Input = nil
		}
		line, err := e.JSON()
		if err != nil {
			return nil, err
		}
		a.Rows = append(a.Rows, Row{At: rec.At, ID: e.DecisionID, Passed: rec.Passed(!q.Forward), Event: line})
	}
	return a, nil
}

// noInput spares the rendering of an input that nobody gets.
func noInput(*resources.Judgement) ([]byte, error) { return []byte("{}"), nil }
