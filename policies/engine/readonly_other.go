//go:build !linux

package engine

// mountedReadOnly is known on Linux only.
func mountedReadOnly(string) bool { return false }
