package limits

// Judged says whether a policy may call a built-in, and whether there is a reason why not.
func Judged(name string) (allowed, refused bool) {
	for _, b := range Capabilities().Builtins {
		allowed = allowed || b.Name == name
	}
	return allowed, WhyRefused("undefined function "+name) != "" && WhyRefused("undefined function "+name) != whyUnknown
}
