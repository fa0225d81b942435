package main

import (
	"time"

	"github.com/portcullis-authz/portcullis/resources"
	"github.com/portcullis-authz/portcullis/resources/access"
	"github.com/portcullis-authz/portcullis/resources/apikeys"
	"github.com/portcullis-authz/portcullis/resources/changes"
	"github.com/portcullis-authz/portcullis/resources/users"
)

// newRecorder makes what writes the records of changes.
func (c *core) newRecorder() *changes.Recorder {
	return &changes.Recorder{
		Collections: c.collections, IDs: c.ids, Now: c.ids.Now, Retention: c.settings.Store.ChangeRetention, Action: c.actionOf,
		Shown: changes.Shown{
			Assignment: access.ShownAssignment, Project: access.ShownProject, User: users.Shown,
			APIKey: func(k resources.APIKey) any { return apikeys.Shown(k, resources.At(time.Now())) },
		},
	}
}

// actionOf returns the action of a route of the catalogue in force, "" for none.
func (c *core) actionOf(route string) string {
	for _, row := range c.policy.Routes() {
		if row.Name == route {
			return row.Action
		}
	}
	return ""
}
