// Package explain is the door of `POST /api/v1/explain/{proxy+}`. It explains the decision of authorization.check and
// finds the smallest changes to make it allow. Both doors read the question alike. An explanation is not a decision: it
// has no decision id and lets nobody in.
package explain
