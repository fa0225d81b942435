//go:build !linux

package policies

// mountedReadOnly returns false: it knows the mounts of Linux only.
func mountedReadOnly(string) bool { return false }
