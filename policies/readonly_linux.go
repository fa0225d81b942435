package policies

import "syscall"

func mountedReadOnly(path string) bool {
	var mount syscall.Statfs_t
	return syscall.Statfs(path, &mount) == nil && mount.Flags&syscall.MS_RDONLY != 0
}
