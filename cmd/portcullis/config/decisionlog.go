package config

import (
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/portcullis-authz/portcullis/resources"
)

// Modes of the decision log.
const (
	LogOff        = "off"
	LogBestEffort = "best-effort"
	LogRequired   = "required"
)

const (
	defaultLogSize = 1 << 30
	leastLogSize   = 1 << 20
	defaultLogAge  = 30 * 24 * time.Hour
)

// Decisions says how decisions are recorded.
type Decisions struct {
	// Mode is one of the modes.
	Mode string
	// Size bounds the log in bytes, Age what is in it.
	Size int
	Age  time.Duration
	// URL is the sink, "" for none.
	URL string
}

func (d *Decisions) flags(f *pflag.FlagSet) {
	f.StringVar(&d.Mode, "decision-log", LogBestEffort, "the `mode` of the decision log, in decisions/ of the data folder: off; best-effort, which nobody waits for; "+
		"or required, where a verdict that is not on disk is not told (503)")
	sizeVar(f, &d.Size, "decision-log-size", defaultLogSize, "how much the decision log may take on disk; the oldest decisions are removed")
	DurationVar(f, &d.Age, "decision-log-age", defaultLogAge, "how old decisions get in the log")
	f.StringVar(&d.URL, "decision-log-url", "", "the `URL` of a service that takes decisions as OPA's decision log API sends them, as https://host/logs")
}

// On says whether decisions are recorded.
func (d Decisions) On() bool { return d.Mode != LogOff }

// Required says whether a verdict waits for its record.
func (d Decisions) Required() bool { return d.Mode == LogRequired }

// DecisionsDir returns the folder of decisions in the data folder.
func (s Store) DecisionsDir() string { return filepath.Join(s.DataDir, "decisions") }

// Validate returns what is wrong with the settings of the decision log.
func (d Decisions) Validate() (problems []resources.Problem) {
	if d.Mode != LogOff && d.Mode != LogBestEffort && d.Mode != LogRequired {
		problems = append(problems, problem("--decision-log", "must be off, best-effort or required, not %q", d.Mode))
	}
	if d.Size < leastLogSize {
		problems = append(problems, tooSmall("--decision-log-size", "at least 1MiB"))
	}
	if d.Age < time.Minute {
		problems = append(problems, tooSmall("--decision-log-age", "at least 1m"))
	}
	if d.URL != "" && webAddress(d.URL) == nil {
		problems = append(problems, problem("--decision-log-url", "must be http://host:port/path or https://host:port/path, without a user"))
	}
	if d.URL != "" && d.Mode == LogOff {
		problems = append(problems, problem("--decision-log-url", "sends what the decision log has; leave it or --decision-log off out"))
	}
	return problems
}
