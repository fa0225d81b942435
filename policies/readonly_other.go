//go:build !linux

package policies

// mountedReadOnly returns false: only Linux is asked.
func mountedReadOnly(string) bool { return false }
