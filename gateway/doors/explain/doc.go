// Package explain is the door of `POST /api/v1/explain/{proxy+}`: why authorization.check decides as it does, and the
// smallest changes that would have it allow. The question is read as that door reads it. An explanation is no decision:
// it has no decision id, and nobody is let in by it.
package explain
