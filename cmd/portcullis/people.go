package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/private"
	"github.com/portcullis-authz/portcullis/policies/compare/diff"
	"github.com/portcullis-authz/portcullis/policies/compare/people"
	"github.com/portcullis-authz/portcullis/policies/engine"
	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/store"
	"github.com/portcullis-authz/portcullis/store/records"
	"github.com/portcullis-authz/portcullis/store/sqlite"
)

// maxNames bounds --names.
const maxNames = 10_000

// peopleSource is where the real users are read.
type peopleSource struct {
	// dir is a data folder, url the private listener of a gateway. One of them is empty.
	dir, url, token string
	names           int
}

func (p *peopleSource) wanted() bool { return p.dir != "" || p.url != "" }

// validate returns every problem of the flags.
func (p *peopleSource) validate() error {
	var problems []error
	if p.names < 0 || p.names > maxNames {
		problems = append(problems, fmt.Errorf("--names must be from 0 to %d, not %d", maxNames, p.names))
	}
	if p.dir != "" && p.token != "" {
		problems = append(problems, errors.New("--token is for --url; leave it out beside --data-dir, whose users are read from the store"))
	}
	if p.dir == "" && p.url == "" && p.token != "" {
		problems = append(problems, errors.New("--token is for --url, which is missing; give the private listener of the gateway"))
	}
	if p.dir != "" && !sqlite.Exists(p.dir) {
		problems = append(problems, fmt.Errorf("--data-dir: there is no store in the folder %s", p.dir))
	}
	return errors.Join(problems...)
}

// report says whom the change concerns. Without a token a gateway sends nobody.
func (p *peopleSource) report(ctx context.Context, sets [2]*engine.Set, difference *diff.Report) (*people.Report, error) {
	now, each := resources.At(time.Now()), p.ask
	switch {
	case p.dir != "":
		each = p.read(now)
	case p.token == "":
		return &people.Report{Gain: []people.Change{}, Lose: []people.Change{}, NotLookedAt: []people.Omission{
			{What: "all users: --url sends them for a --token that may explain decisions and search"},
		}}, nil
	}
	return people.Compare(ctx, sets, difference.Turning(), difference.NotExhaustive, each, people.Options{
		Names: p.names, AtOnce: runtime.GOMAXPROCS(0), Now: now,
	})
}

// read reads a copy of the embedded store, which a gateway may have open.
func (p *peopleSource) read(now resources.Time) people.Source {
	return func(ctx context.Context, add func(people.Person) error) (facts people.Facts, omitted []people.Omission, err error) {
		c := records.NewCollections()
		opened, shut, err := openSnapshot(ctx, p.dir, c)
		if err != nil {
			return facts, nil, fmt.Errorf("--data-dir: %w", err)
		}
		facts, err = eachPerson(ctx, opened, c, now, func(string) (bool, error) { return true, nil }, add)
		return facts, nil, errors.Join(err, shut())
	}
}

// eachPerson adds the users of the accounts for which seen is true.
func eachPerson(
	ctx context.Context, s store.Store, c records.Collections, now resources.Time, seen func(string) (bool, error), add func(people.Person) error,
) (facts people.Facts, err error) {
	before, err := s.Freshness(ctx)
	if err != nil {
		return facts, err
	}
	err = c.EveryUser(ctx, s, seen, func(u records.UserFacts) error { return add(people.NewPerson(u.Subject, u.Projects, now)) })
	if err != nil {
		return facts, err
	}
	after, err := s.Freshness(ctx)
	return people.Facts{From: before.Epoch, To: after.Epoch}, err
}

// ask reads the users of a running gateway.
func (p *peopleSource) ask(ctx context.Context, add func(people.Person) error) (facts people.Facts, omitted []people.Omission, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(p.url, "/")+"/policy/people", nil)
	if err != nil {
		return facts, nil, fmt.Errorf("--url: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	resp, err := private.Do(req)
	if err != nil {
		return facts, nil, fmt.Errorf("--url: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	for decoder := json.NewDecoder(resp.Body); ; {
		var line private.PeopleLine
		if err := decoder.Decode(&line); err != nil {
			return facts, nil, fmt.Errorf("--url: the gateway broke off: %w", err)
		}
		switch {
		case line.End != nil && line.End.Hidden:
			return line.End.Facts, []people.Omission{{What: "accounts in which the --token may not explain decisions and search"}}, nil
		case line.End != nil:
			return line.End.Facts, nil, nil
		case line.Person == nil || line.Person.Subject == nil:
			return facts, nil, errors.New("--url: the gateway sent a line that is no user")
		}
		if err := add(*line.Person); err != nil {
			return facts, nil, err
		}
	}
}
