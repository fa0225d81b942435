// Package e3 is the door of `POST /api/v1/authorize/{proxy+}` (specification, E3): the question is in
// the path and three headers, the answer is `{"allowed": …, "reason": …}`.
package e3
