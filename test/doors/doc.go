// Package doors puts one corpus of questions through every door of the gateway: for equal questions all
// answer alike. A further door is one adapter (door) in the list of doors.
package doors
