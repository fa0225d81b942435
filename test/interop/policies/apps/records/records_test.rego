package apps.records_test

import data.apps.records

test_records[note] if {
	some note, [subject, action, record, allow] in {
		"the owner deletes": ["dan", "delete", "110", true],
		"an editor edits": ["alice", "edit", "110", true],
		"an editor does not delete": ["alice", "delete", "110", false],
		"a viewer views": ["bob", "view", "101", true],
		"a viewer does not edit": ["bob", "edit", "101", false],
		"a stranger does not view": ["felix", "view", "101", false],
		"no record": ["alice", "view", "999", false],
		"no action": ["alice", "share", "101", false],
	}
	decision := records.decision with input as {
		"subject": {"type": "user", "id": subject}, "action": {"name": action}, "resource": {"type": "record", "id": record},
	}
	decision == allow
}
