# METADATA
# scope: package
# title: The records of the AuthZEN search scenario
# description: A record has an owner, who does everything with it, editors, and viewers.
# schemas:
#   - input: schema.app.schema
package apps.records

types := {"record"}

subjects := {{"type": "user", "id": id} | some id in _people}

resources := {{"type": "record", "id": id} | some id, _ in data.apps.records.records}

actions := {{"name": "view"}, {"name": "edit"}, {"name": "delete"}}

_people := {id |
	some record in data.apps.records.records
	some id in array.concat([record.owner], array.concat(record.editors, record.viewers))
}

default decision := false

decision if {
	input.subject.type == "user"
	input.subject.id in _may[input.action.name]
}

_record := data.apps.records.records[input.resource.id] if input.resource.type == "record"

_may := {
	"view": array.concat([_record.owner], _record.viewers),
	"edit": array.concat([_record.owner], _record.editors),
	"delete": [_record.owner],
}
