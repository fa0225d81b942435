//go:build !linux

package policies

// mountedReadOnly is known on Linux only.
func mountedReadOnly(string) bool { return false }
