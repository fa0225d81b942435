// Package arguments validates the arguments of calls of MCP tools against the JSON schemas that a policy tree pins.
//
// A schema is compiled once for a tree. It refers to nothing outside of itself: the compiler has no loader. Arguments are
// bounded before they are validated: the number of their values, and the length of each number.
//
// A member is rejected if it differs from a property of the schema in case alone, also if the schema allows unknown
// members: some servers read it as the property, and rules don't.
package arguments
