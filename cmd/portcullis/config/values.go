package config

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// size is a flag's number of bytes.
type size int

func sizeVar(f *pflag.FlagSet, end *int, name string, value int, usage string) {
	*end = value
	f.Var((*size)(end), name, usage)
}

// sizeUnit is a unit of sizes.
type sizeUnit struct {
	name  string
	bytes int
}

// sizeUnits returns the units of sizes, the greatest first.
func sizeUnits() []sizeUnit { return []sizeUnit{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} }

// Set implements pflag.Value: digits, and a unit or none.
func (s *size) Set(text string) error {
	unit := 1
	for _, u := range sizeUnits() {
		if digits, ok := strings.CutSuffix(text, u.name); ok {
			text, unit = digits, u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(text, 10, strconv.IntSize-1)
	if err != nil || int(n) > math.MaxInt/unit {
		return errors.New("must be a number of bytes, or of KiB, MiB or GiB, as 64KiB")
	}
	*s = size(int(n) * unit)
	return nil
}

// String implements pflag.Value: a whole number of the greatest possible unit.
func (s size) String() string {
	for _, u := range sizeUnits() {
		if n := int(s); n != 0 && n%u.bytes == 0 {
			return strconv.Itoa(n/u.bytes) + u.name
		}
	}
	return strconv.Itoa(int(s))
}

// Type implements pflag.Value.
func (size) Type() string { return "size" }

// duration is a flag's duration.
type duration time.Duration

// DurationVar adds a flag that takes Go's durations, and days of 24 hours.
func DurationVar(f *pflag.FlagSet, d *time.Duration, name string, value time.Duration, usage string) {
	*d = value
	f.Var((*duration)(d), name, usage)
}

// Set implements pflag.Value.
func (d *duration) Set(text string) error {
	text = regexp.MustCompile(`[0-9]*\.?[0-9]+d`).ReplaceAllStringFunc(text, func(part string) string {
		n, _ := strconv.ParseFloat(strings.TrimSuffix(part, "d"), 64) // has the form of a number
		return strconv.FormatFloat(n*24, 'f', -1, 64) + "h"
	})
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return errors.New("must be a duration, as 500ms, 90s, 1h30m or 14d")
	}
	*d = duration(parsed)
	return nil
}

// String implements pflag.Value: 14d, 1h, 1m15s.
func (d *duration) String() string {
	const day = 24 * time.Hour
	if n := time.Duration(*d); n != 0 && n%day == 0 {
		return strconv.FormatInt(int64(n/day), 10) + "d"
	}
	text := time.Duration(*d).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// Type implements pflag.Value.
func (*duration) Type() string { return "duration" }
