package ratelimit_test

import (
	"errors"
	"testing"
	"time"

	"github.com/portcullis-authz/portcullis/gateway/ratelimit"
)

func TestParseRate(t *testing.T) {
	for text, want := range map[string]ratelimit.Rate{
		"off":        {},
		"1/s":        {Interval: time.Second, Burst: 1},
		"100/s":      {Interval: 10 * time.Millisecond, Burst: 100},
		"100/s,5":    {Interval: 10 * time.Millisecond, Burst: 5},
		"600/m,50":   {Interval: 100 * time.Millisecond, Burst: 50},
		"24/h":       {Interval: 150 * time.Second, Burst: 24},
		"1000000/s":  {Interval: time.Microsecond, Burst: 1_000_000},
		"1/h,24":     {Interval: time.Hour, Burst: 24},
		"1000/s,1":   {Interval: time.Millisecond, Burst: 1},
		"60/m,60":    {Interval: time.Second, Burst: 60},
		"3/s":        {Interval: time.Second / 3, Burst: 3},
		"1/m,000010": {Interval: time.Minute, Burst: 10},
	} {
		if got, err := ratelimit.ParseRate(text); err != nil || got != want {
			t.Errorf("%s: %+v %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "0", "100", "100/", "100/d", "/s", "0/s", "-1/s", "+1/s", "1.5/s", "1e3/s", "100/s,", "100/s,0", "100/s,-1", "100/s,x", "100 / s",
		"1000001/s", "1/s,1000001", "1/h,25", "100/s,5,5", "99999999999999999999/s", "Off", "100/S", "１/s",
	} {
		if got, err := ratelimit.ParseRate(text); !errors.Is(err, ratelimit.ErrRate) {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
}

func TestNoRateIsNoLimiter(t *testing.T) {
	if ratelimit.New(ratelimit.Options{Now: time.Now}) != nil {
		t.Error("New returned a limiter without a rate")
	}
}
