package health

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
)

// walls is a clock whose wall and boot time a test sets.
type walls struct {
	native.Clock
	wall time.Time
	boot time.Duration
}

func (c *walls) Now() time.Time      { return c.wall }
func (c *walls) Boot() time.Duration { return c.boot }

func TestClockWatch(t *testing.T) {
	is := is.New(t)
	clock := &walls{wall: time.Unix(1_700_000_000, 0), boot: time.Hour}
	var w ClockWatch
	pass := func(wall, boot time.Duration) time.Duration {
		clock.wall, clock.boot = clock.wall.Add(wall), clock.boot+boot
		return w.Look(clock)
	}
	is.Equal(pass(0, 0), time.Duration(0))                                      // the first look
	is.Equal(pass(time.Minute, time.Minute), time.Duration(0))                  // time passes
	is.Equal(pass(8*time.Hour, 8*time.Hour), time.Duration(0))                  // a night's sleep is no step
	is.Equal(pass(time.Second+time.Millisecond, time.Second), time.Duration(0)) // NTP slews
	is.Equal(pass(time.Minute+stepLimit-1, time.Minute), time.Duration(0))      // as far as it may
	is.Equal(pass(time.Minute+stepLimit, time.Minute), stepLimit)
	is.Equal(pass(-time.Hour, time.Second), -time.Hour-time.Second) // set back
	is.Equal(pass(time.Minute, time.Minute), time.Duration(0))      // said once
	is.Equal(pass(time.Minute+time.Hour, time.Minute), time.Hour)   // set forward
}
