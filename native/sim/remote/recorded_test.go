package remote_test

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native/nativetest"
)

// What is recorded is told to other processes as it is here, addresses and all.
func TestRecordedIsTheSame(t *testing.T) {
	is := is.New(t)
	h := host(t, load(t, "two-studios"), nativetest.NewClock(time.Now()))
	w := h.dial(t)
	want, err := h.Recorded("studio-2")
	is.NoErr(err)
	is.True(len(want.Paths) == 3 && len(want.Reach) > 0 && want.GPU != nil)
	got, err := w.Recorded("studio-2")
	is.NoErr(err)
	is.Equal(got, want)
	_, err = w.Recorded("nobody")
	is.True(err != nil)
}
