package flood_test

// onCores has a command run on these cores.
func onCores(cores string, command []string) []string {
	return append([]string{"taskset", "-c", cores}, command...)
}

// whenIdle has a command run when nobody else has to: callers wait for the gateway, and not
// until the flood, which needs most of their core, has had its share.
func whenIdle(command []string) []string { return append([]string{"chrt", "--idle", "0"}, command...) }
