// Package arguments validates the arguments of calls of MCP tools against the JSON schemas that a policy tree pins.
//
// A schema is compiled once for a tree. It refers to nothing outside of itself: the compiler has no loader. Arguments are
// bounded before they are validated: the number of their values, and the length and size of each number.
//
// A member is rejected if it differs from a property of the schema in case alone, also if the schema allows unknown
// members: some servers read it as the property, and rules don't. Without a schema nothing names the members: only two
// in one object are rejected (Twins).
//
// Schemas and rules compute exactly, and most servers with doubles: to them 7.0000000000000000001 is 7. Arguments with
// such a number have several readings, and all of them are judged. To reject such numbers was rejected: ids of 64 bits
// are among them. A server can read two integers of one call in different ways: no reading has that.
package arguments
