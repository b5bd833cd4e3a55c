//go:build cgo && linux && darwinsim

package simmac_test

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
)

// TestForHowLongNobodyUsesTheMac reads the one number that says so; without it, or with
// another thing in its place, that is unknown.
func TestForHowLongNobodyUsesTheMac(t *testing.T) {
	for _, c := range []struct {
		name  string
		class string
		value any
		want  time.Duration
		why   native.Reason
	}{
		{"a number", "IOHIDSystem", int64(90_000_000_000), 90 * time.Second, ""},
		{"bytes", "IOHIDSystem", []byte{0, 0x94, 0x35, 0x77, 0, 0, 0, 0}, 2 * time.Second, ""},
		{"nobody ever", "IOHIDSystem", int64(0), 0, ""},
		{"below nothing", "IOHIDSystem", int64(-1), 0, native.ReasonSourceMalformed},
		{"a text", "IOHIDSystem", "soon", 0, native.ReasonSourceMalformed},
		{"too few bytes", "IOHIDSystem", []byte{1, 2}, 0, native.ReasonSourceMalformed},
		{"another class", "IOHIDOther", int64(1), 0, native.ReasonSourceGone},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			clean(t)
			d := newMachines(t, pair(t))
			is.NoErr(d.macs["A"].Machine.AddEntry(false, 0, 9001, c.class, "", c.class, map[string]any{"HIDIdleTime": c.value}))
			got, why := d.platforms["A"].Facts.(native.UserActivity).Unused(t.Context())
			is.Equal(got, c.want)
			is.Equal(why.Key(), c.why.Key())
		})
	}
}
